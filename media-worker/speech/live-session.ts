import { Failure } from '../../shared/errors.ts';
import type { TraceContext } from '../../shared/trace-context.ts';
import { alignmentOf } from './alignment.ts';
import {
  type LiveClientMessage,
  type LiveServerMessage,
  readLiveMessage,
  writeLiveMessage,
} from './live-protocol.ts';
import { LiveRequest } from './live-request.ts';
import type { SpeechCaller } from './speech-admission.ts';
import { UnreadableBody } from './speech-body.ts';
import type { SpokenAudio } from './spoken-audio.ts';
import type { SynthesisDeps } from './synthesize.ts';
import type { TtsModel } from './tts-models.ts';
import { type ResolveVoice, readTtsRequest, type TtsRequest } from './tts-request.ts';
import type { TtsBody } from './tts-schema.ts';

/** Requests that were started and stopped before the first of them was done. */
const MAX_REQUESTS_AHEAD = 8;

/** RFC 6455 7.4.1. */
const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  unsupported: 1003,
  notMessagePack: 1007,
  outOfOrder: 1008,
} as const;

export interface LiveSessionDeps extends SynthesisDeps {
  /** Throws `Failure` 422. */
  readonly checkBody: (body: unknown) => TtsBody;
  readonly resolveVoice: ResolveVoice;
  readonly maxTextCharacters: number;
  readonly idleMs: number;
}

export interface LiveSessionOptions {
  readonly caller: SpeechCaller;
  readonly model: TtsModel;
  readonly trace: TraceContext;
  /** Audio messages say what is spoken when. */
  readonly withTimes: boolean;
  /** Sends a frame; resolves when there is room for the next. Rejects when the socket is gone. */
  readonly send: (frame: Uint8Array) => Promise<void>;
  readonly hangUp: (code: number, reason: string) => void;
}

/**
 * One realtime socket: any number of requests, one after the other, each from its start to its finish. Requests
 * refused or failed end in a finish with a message, and the socket goes on; a client that breaks the protocol is
 * told so and the socket is closed.
 */
export class LiveSession {
  readonly #deps: LiveSessionDeps;
  readonly #options: LiveSessionOptions;
  readonly #gone = new AbortController();
  readonly #openedMs: number;
  #lastSignMs: number;
  #requests: LiveRequest[] = [];
  #running = false;
  /** A request failed before its stop: what the client still says of it is dropped. */
  #isDropping = false;

  constructor(deps: LiveSessionDeps, options: LiveSessionOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#openedMs = deps.clock.monotonicMs();
    this.#lastSignMs = this.#openedMs;
    void this.#watchIdle();
  }

  /** Takes a frame of the client. */
  receive(frame: Uint8Array, isText: boolean): void {
    if (this.#gone.signal.aborted) return;
    this.#lastSignMs = this.#deps.clock.monotonicMs();
    if (isText) return this.#break(CLOSE.unsupported, 'frames are binary MessagePack');
    let message: LiveClientMessage;
    try {
      message = readLiveMessage(frame);
    } catch (error) {
      const reason =
        error instanceof UnreadableBody || error instanceof TypeError ? error.message : 'unreadable';
      return this.#break(CLOSE.notMessagePack, reason);
    }
    this.#take(message);
  }

  /** The client is gone: everything stops. Safe to call twice. */
  close(): void {
    this.#gone.abort();
    this.#requests = [];
  }

  /** The service stops: the client is told to come back. */
  goAway(): void {
    this.#options.hangUp(CLOSE.goingAway, 'the service is stopping');
    this.close();
  }

  #take(message: LiveClientMessage): void {
    const latest = this.#requests.at(-1);
    const open = latest && !latest.feed.isStopped ? latest : null;
    if (message.event === 'start') this.#isDropping = false;
    if (this.#isDropping) {
      this.#isDropping = message.event !== 'stop';
      return;
    }
    switch (message.event) {
      case 'unknown':
        return;
      case 'start':
        if (open) return this.#break(CLOSE.outOfOrder, 'a start came before the stop of the last one');
        if (this.#requests.length >= MAX_REQUESTS_AHEAD)
          return this.#break(CLOSE.outOfOrder, 'too many starts are waiting');
        return this.#start(message.request);
      case 'text':
        if (!open) return this.#break(CLOSE.outOfOrder, 'text came before a start');
        if (open.waitingCharacters + message.text.length > this.#deps.maxTextCharacters)
          return this.#break(CLOSE.outOfOrder, `at most ${this.#deps.maxTextCharacters} characters may wait`);
        return open.feed.push(message);
      case 'flush':
      case 'stop':
        return open?.feed.push(message);
    }
  }

  #start(body: unknown): void {
    this.#requests.push(
      new LiveRequest(this.#deps, {
        request: this.#read(body),
        caller: this.#options.caller,
        emit: (audio) => this.#sendAudio(audio),
        signal: this.#gone.signal,
      }),
    );
    if (!this.#running) void this.#run();
  }

  async #read(body: unknown): Promise<TtsRequest> {
    const { model, caller } = this.#options;
    // The text usually follows, and may be left out here.
    const given = typeof body === 'object' && body !== null ? { text: '', ...body } : { text: '' };
    const checked = this.#deps.checkBody(given);
    return readTtsRequest(checked, model, caller.workspaceId, this.#deps.resolveVoice);
  }

  /** Runs the requests one after the other. Never rejects. */
  async #run(): Promise<void> {
    this.#running = true;
    for (let request = this.#requests[0]; request; request = this.#requests[0]) {
      try {
        await request.run();
        if (!this.#gone.signal.aborted) await this.#send({ event: 'finish', reason: 'stop' });
        this.#requests.shift();
      } catch (error) {
        this.#isDropping = this.#requests.at(-1) === request && !request.feed.isStopped;
        this.#requests.shift();
        await this.#tellFailure(error);
      }
    }
    this.#running = false;
  }

  async #tellFailure(error: unknown): Promise<void> {
    if (this.#gone.signal.aborted) return;
    const { log } = this.#deps;
    if (!(error instanceof Failure))
      log.error({ err: error, trace_id: this.#options.trace.traceId }, 'realtime synthesis failed');
    await this.#send({ event: 'finish', reason: 'error', message: messageOf(error) }).catch(() => {});
  }

  async #sendAudio({ bytes, chunk }: SpokenAudio): Promise<void> {
    const time = Math.round(this.#deps.clock.monotonicMs() - this.#openedMs);
    await this.#send({
      event: 'audio',
      audio: bytes,
      ...(this.#options.withTimes ? { ...alignmentOf(chunk), time } : {}),
    });
  }

  async #send(message: LiveServerMessage): Promise<void> {
    await this.#options.send(writeLiveMessage(message));
    this.#lastSignMs = this.#deps.clock.monotonicMs();
  }

  /** Tells the client what it did wrong and ends the conversation. */
  #break(code: number, reason: string): void {
    const frame = writeLiveMessage({ event: 'finish', reason: 'error', message: reason });
    this.#options.send(frame).catch(() => {});
    this.#options.hangUp(code, reason);
    this.close();
  }

  async #watchIdle(): Promise<void> {
    const { clock, idleMs } = this.#deps;
    const { signal } = this.#gone;
    while (!signal.aborted) {
      const leftMs = this.#lastSignMs + idleMs - clock.monotonicMs();
      if (leftMs <= 0) {
        this.#options.hangUp(CLOSE.normal, 'idle');
        return this.close();
      }
      await clock.sleep(leftMs, signal);
    }
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Failure)) return 'Internal error';
  const [issue] = error.issues;
  return issue ? `${issue.loc.join('.')}: ${issue.msg}` : error.message;
}
