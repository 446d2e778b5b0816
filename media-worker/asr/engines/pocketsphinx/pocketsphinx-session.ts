import { Failure } from '../../../../shared/errors.ts';
import type { Clock } from '../../../../shared/time.ts';
import { type AudioFrame, durationMs } from '../../../frame.ts';
import type { AsrSession, Transcript } from '../../asr-engine.ts';
import { framesUntil } from '../../frames-until.ts';
import type { HeardMessage } from './host-protocol.ts';
import type { RecogniserProcess } from './recogniser-process.ts';
import { UtteranceInbox } from './utterance-inbox.ts';

/** From the end of audio that came as it was spoken to its final text; usually 15 ms. */
const FINAL_DEADLINE_MS = 10_000;
const RATE_HZ = 16_000;

export interface PocketSphinxSessionDeps {
  readonly process: Pick<RecogniserProcess, 'send' | 'listen' | 'forget' | 'killIfSilent'>;
  readonly clock: Clock;
  /** Never twice the same within a process. */
  readonly nextId: () => number;
  readonly onClosed: () => void;
}

/** Media time of the audio that was sent so far. */
interface HeardSpan {
  startMs: number;
  endMs: number;
}

/** One caller. The host learns the voice from utterance to utterance. */
export class PocketSphinxSession implements AsrSession {
  readonly #deps: PocketSphinxSessionDeps;
  readonly #id: number;
  readonly #closed = new AbortController();
  /** Settled when the last utterance's audio has been sent. */
  #previous: Promise<void> = Promise.resolve();

  constructor(deps: PocketSphinxSessionDeps) {
    this.#deps = deps;
    this.#id = deps.nextId();
    deps.process.send('open', this.#id, 0);
  }

  async *transcribe(audio: AsyncIterable<AudioFrame>, signal: AbortSignal): AsyncIterable<Transcript> {
    if (this.#closed.signal.aborted || signal.aborted) return;
    const { process, nextId } = this.#deps;
    const id = nextId();
    const done = new AbortController();
    const stop = AbortSignal.any([signal, this.#closed.signal, done.signal]);
    const inbox = new UtteranceInbox(stop);
    const span: HeardSpan = { startMs: 0, endMs: 0 };
    process.listen(id, inbox);
    const after = this.#previous;
    const sending = after.then(() => this.#send(id, audio, span, inbox, stop));
    this.#previous = sending.catch((error: unknown) => inbox.fail(error));
    let isFinal = false;
    try {
      while (!isFinal) {
        const message = await inbox.next();
        if (!message) return;
        isFinal = message.type === 'final';
        yield toTranscript(message, span);
      }
    } finally {
      done.abort();
      process.forget(id);
      if (!isFinal) process.send('abort', this.#id, id);
    }
  }

  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    this.#deps.process.send('close', this.#id, 0);
    this.#deps.onClosed();
  }

  async #send(
    id: number,
    audio: AsyncIterable<AudioFrame>,
    span: HeardSpan,
    inbox: UtteranceInbox,
    stop: AbortSignal,
  ): Promise<void> {
    const { clock } = this.#deps;
    const beganMs = clock.monotonicMs();
    let isFirst = true;
    for await (const frame of framesUntil(audio, stop)) {
      if (inbox.hasEnded) return;
      if (frame.sampleRateHz !== RATE_HZ) throw new Error(`audio at ${frame.sampleRateHz} Hz`);
      if (isFirst) span.startMs = frame.startMs;
      isFirst = false;
      span.endMs = frame.startMs + durationMs(frame);
      this.#sendFrame('pcm', id, frame.samples);
    }
    if (stop.aborted) return;
    this.#sendFrame('end', id);
    // Audio that came faster than it was spoken may take its own time on top.
    const aheadMs = Math.max(0, span.endMs - span.startMs - (clock.monotonicMs() - beganMs));
    void this.#watchFinal(inbox, FINAL_DEADLINE_MS + aheadMs, stop);
  }

  #sendFrame(kind: 'pcm' | 'end', id: number, samples?: Int16Array): void {
    if (this.#deps.process.send(kind, this.#id, id, samples)) return;
    throw new Failure('upstream_failed', 'The recogniser does not listen at the moment');
  }

  async #watchFinal(inbox: UtteranceInbox, deadlineMs: number, stop: AbortSignal): Promise<void> {
    await this.#deps.clock.sleep(deadlineMs, stop);
    if (stop.aborted || inbox.hasEnded) return;
    inbox.fail(new Failure('upstream_failed', 'The recogniser gave no final text in time'));
    this.#deps.process.killIfSilent(FINAL_DEADLINE_MS);
  }
}

function toTranscript(message: HeardMessage, span: HeardSpan): Transcript {
  const text = asWritten(message.text);
  const { startMs } = span;
  if (message.type === 'partial')
    return { text, isFinal: false, startMs, endMs: startMs + message.ms, confidence: null };
  const first = message.words[0];
  const last = message.words.at(-1);
  return {
    text,
    isFinal: true,
    startMs: startMs + (first?.start ?? 0),
    endMs: last ? Math.min(span.endMs, startMs + last.end) : span.endMs,
    confidence: text === '' ? null : message.confidence,
  };
}

/** The recogniser's words are lower case throughout. */
function asWritten(text: string): string {
  return text.replace(/\bi(?='|\b)/g, 'I');
}
