import { Failure } from '../../shared/errors.ts';
import { LiveFeed, type LiveStep } from './live-feed.ts';
import { MessageSizer } from './message-sizer.ts';
import { type Emit, Speaker } from './speaker.ts';
import type { SpeechCaller, SpeechSlot } from './speech-admission.ts';
import { type SpeechPiece, SpeechSplitter } from './speech-splitter.ts';
import type { SynthesisDeps } from './synthesize.ts';
import { isFreeModel } from './tts-models.ts';
import type { TtsRequest } from './tts-request.ts';

export interface LiveRequestOptions {
  readonly request: Promise<TtsRequest>;
  readonly caller: SpeechCaller;
  readonly emit: Emit;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
}

/** What there is once the request has been read. */
interface Begun {
  readonly request: TtsRequest;
  readonly splitter: SpeechSplitter;
  readonly speaker: Speaker;
  readonly out: MessageSizer | null;
}

/**
 * One start … stop of a realtime socket. It occupies a place among the workspace's requests while it has something
 * to speak, not while it waits for text.
 */
export class LiveRequest {
  readonly feed = new LiveFeed();
  readonly #deps: SynthesisDeps;
  readonly #options: LiveRequestOptions;
  #begun: Begun | null = null;
  #slot: SpeechSlot | null = null;
  #reportedBytes = 0;
  #busySinceMs: number | null = null;
  #hasSpoken = false;

  constructor(deps: SynthesisDeps, options: LiveRequestOptions) {
    this.#deps = deps;
    this.#options = options;
    // Whoever runs the request sees it; until then it is nobody's error.
    options.request.catch(() => {});
  }

  /** Text that waits to be spoken, in characters. */
  get waitingCharacters(): number {
    return this.feed.waitingCharacters + (this.#begun?.splitter.waitingCharacters ?? 0);
  }

  /** Speaks until the stop, or until the client is gone. Throws `Failure` for what the client may read. */
  async run(): Promise<void> {
    const { metrics } = this.#deps;
    const { signal } = this.#options;
    try {
      const request = await this.#options.request;
      if (signal.aborted) return;
      // Refused before the client has sent its text.
      this.#enter(request);
      this.#begun = this.#begin(request);
      if (request.text !== '') await this.#perform({ type: 'text', text: request.text }, this.#begun);
      await this.#follow(this.#begun);
      metrics.ended('live', signal.aborted ? 'cancelled' : 'done');
    } catch (error) {
      const isRefusal = error instanceof Failure && error.status < 500;
      metrics.ended('live', signal.aborted ? 'cancelled' : isRefusal ? 'refused' : 'failed');
      throw error;
    } finally {
      this.#end();
    }
  }

  #begin(request: TtsRequest): Begun {
    const { codec } = request.format;
    return {
      request,
      splitter: new SpeechSplitter(request),
      speaker: new Speaker({ ...this.#deps, tts: this.#deps.ttsFor(request.model) }, request),
      out: codec === 'pcm' || codec === 'wav' ? new MessageSizer(this.#options.emit) : null,
    };
  }

  async #follow(begun: Begun): Promise<void> {
    for (;;) {
      if (this.feed.isEmpty) this.#rest();
      const step = await this.feed.next(this.#options.signal);
      if (!step) return;
      this.#busySinceMs ??= this.#deps.clock.monotonicMs();
      await this.#perform(step, begun);
      if (step.type === 'stop') return;
    }
  }

  async #perform(step: LiveStep, { splitter, speaker, out, request }: Begun): Promise<void> {
    const { signal } = this.#options;
    const emit: Emit = (audio) => (out ? out.take(audio) : this.#options.emit(audio));
    const pieces = step.type === 'text' ? splitter.push(step.text) : splitter.flush();
    for (const piece of pieces) {
      if (signal.aborted) return;
      await out?.release();
      this.#enter(request);
      await this.#speak(piece, speaker, emit);
    }
    if (signal.aborted) return;
    if (step.type === 'flush') await speaker.settle(emit);
    if (step.type === 'stop') await speaker.finish(emit);
    await out?.release();
  }

  async #speak(piece: SpeechPiece, speaker: Speaker, emit: Emit): Promise<void> {
    const { clock, metrics } = this.#deps;
    const sinceMs = this.#busySinceMs ?? clock.monotonicMs();
    await speaker.speak(piece, this.#options.signal, (audio) => {
      if (!this.#hasSpoken)
        metrics.firstAudio('live', clock.monotonicMs() - sinceMs, speaker.figures.engineFirstAudioMs ?? 0);
      this.#hasSpoken = true;
      return emit(audio);
    });
  }

  #enter(request: TtsRequest): void {
    this.#slot ??= this.#deps.admission.enter(this.#options.caller, isFreeModel(request.model));
  }

  /** Nothing is left to speak: the place is free and what was spoken is reported. */
  #rest(): void {
    this.#slot?.release();
    this.#slot = null;
    this.#busySinceMs = null;
    if (!this.#begun) return;
    const { speaker, request } = this.#begun;
    const { textBytes } = speaker.figures;
    const { workspaceId } = this.#options.caller;
    const quantity = textBytes - this.#reportedBytes;
    this.#deps.usage.add({ workspaceId, kind: 'tts', model: request.model, quantity });
    this.#reportedBytes = textBytes;
  }

  #end(): void {
    this.#rest();
    if (!this.#begun) return;
    const { speaker } = this.#begun;
    speaker.close();
    const { audioMs, engineMs, encodedBytes } = speaker.figures;
    this.#deps.metrics.processed('live', audioMs, engineMs, encodedBytes);
  }
}
