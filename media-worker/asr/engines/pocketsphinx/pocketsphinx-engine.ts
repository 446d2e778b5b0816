import { Failure } from '../../../../shared/errors.ts';
import type { Logger } from '../../../../shared/log.ts';
import type { Clock } from '../../../../shared/time.ts';
import type { AsrEngine, AsrSession, AsrSessionOptions } from '../../asr-engine.ts';
import { PocketSphinxSession } from './pocketsphinx-session.ts';
import { type HostChild, RecogniserProcess } from './recogniser-process.ts';

/** One process decodes on one core, which carries about ten callers who all speak at the same moment. */
const SESSIONS_PER_PROCESS = 8;

export interface PocketSphinxEngineDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** A Python that can import `pocketsphinx`; `prepareRecogniser` makes one. */
  readonly pythonPath: string;
  /** Callers heard at once; the next one is refused. Each costs about 55 MB. */
  readonly maxSessions: number;
  /** Starts a side process; given here for tests. */
  readonly launch?: () => HostChild;
}

/**
 * PocketSphinx with the English model of its Python package, in side processes that are started when they are
 * needed. Clear close speech only: 3 to 10 % of the words of synthetic voices are wrong, 20 to 40 % of unknown
 * people's, noise makes it useless.
 */
export class PocketSphinxEngine implements AsrEngine {
  readonly name = 'pocketsphinx';
  readonly sampleRateHz = 16_000;
  readonly hasPartials = true;
  readonly #deps: PocketSphinxEngineDeps;
  readonly #processes: { readonly process: RecogniserProcess; sessions: number }[] = [];
  #openSessions = 0;
  #lastId = 0;

  constructor(deps: PocketSphinxEngineDeps) {
    this.#deps = deps;
  }

  understands(language: string): boolean {
    return language === 'en';
  }

  /** Starts the first side process, so that the first caller needn't wait for it. Throws `Failure('unavailable')`. */
  async prewarm(): Promise<void> {
    await this.#roomiest().process.start();
  }

  async open(_options: AsrSessionOptions): Promise<AsrSession> {
    if (this.#openSessions >= this.#deps.maxSessions)
      throw new Failure('unavailable', 'The built-in recogniser already hears as many callers as it may');
    const place = this.#roomiest();
    this.#openSessions++;
    place.sessions++;
    const leave = () => {
      this.#openSessions--;
      place.sessions--;
    };
    try {
      await place.process.start();
    } catch (error) {
      leave();
      throw error;
    }
    return new PocketSphinxSession({
      process: place.process,
      clock: this.#deps.clock,
      nextId: () => ++this.#lastId,
      onClosed: leave,
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map(({ process }) => process.close()));
  }

  #roomiest(): { readonly process: RecogniserProcess; sessions: number } {
    const [place] = this.#processes.toSorted((a, b) => a.sessions - b.sessions);
    if (place && place.sessions < SESSIONS_PER_PROCESS) return place;
    const added = { process: new RecogniserProcess(this.#deps), sessions: 0 };
    this.#processes.push(added);
    return added;
  }
}
