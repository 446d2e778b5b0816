import { Failure } from '../../../../shared/errors.ts';
import { readEventData } from '../../../../shared/outgoing/event-stream.ts';
import type { OutgoingClient, OutgoingStream } from '../../../../shared/outgoing/outgoing-client.ts';
import { OutgoingError } from '../../../../shared/outgoing/outgoing-error.ts';
import type { Clock } from '../../../../shared/time.ts';
import type { LlmEngine, LlmEvent, LlmRequest } from '../../llm-engine.ts';
import { completionBody } from './completion-body.ts';
import { type CompletionDelta, readDelta } from './completion-delta.ts';
import { ToolCallAssembler } from './tool-call-assembler.ts';

const ATTEMPTS = 2;
const RETRY_PAUSE_MS = 200;
const MAX_REPLY_BYTES = 8 * 1024 * 1024;
const MAX_ERROR_BYTES = 4_096;

export interface OpenAiLlmDeps {
  readonly http: Pick<OutgoingClient, 'stream' | 'request'>;
  readonly clock: Clock;
}

export interface OpenAiLlmSettings {
  /** With or without a trailing `/chat/completions`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
  /** True for an agent's own endpoint, which is promised `session_id` and `user_id`. */
  readonly sendsSessionFields: boolean;
  /** Until the first text or tool call, a retry included; 10000 by default. */
  readonly firstTokenDeadlineMs?: number;
  /** Longest silence within a reply; 10000 by default. */
  readonly gapDeadlineMs?: number;
}

/** A refusal by status; the body's start tells quirks apart and goes nowhere else. */
class HttpRefusal extends Error {
  readonly status: number;
  readonly isAboutUsage: boolean;

  constructor(status: number, body: string) {
    super(`HTTP ${status}`);
    this.status = status;
    this.isAboutUsage = (status === 400 || status === 422) && /stream_options|include_usage/.test(body);
  }
}

/**
 * Any service with OpenAI's `POST /chat/completions`, streamed, with function tools. A request that failed before
 * its first token is made once more when that can help (connection lost, 408, 429, 5xx).
 */
export class OpenAiLlm implements LlmEngine {
  readonly name = 'openai';
  readonly #deps: OpenAiLlmDeps;
  readonly #settings: OpenAiLlmSettings;
  readonly #baseUrl: string;
  #asksForUsage = true;

  constructor(deps: OpenAiLlmDeps, settings: OpenAiLlmSettings) {
    this.#deps = deps;
    this.#settings = settings;
    this.#baseUrl = settings.baseUrl.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  }

  async *reply(request: LlmRequest, signal: AbortSignal): AsyncIterable<LlmEvent> {
    const { clock } = this.#deps;
    const dueMs = clock.monotonicMs() + (this.#settings.firstTokenDeadlineMs ?? 10_000);
    for (let attempt = 1; !signal.aborted; attempt++) {
      let hasAnswered = false;
      try {
        for await (const event of this.#attempt(request, dueMs - clock.monotonicMs(), signal)) {
          // What had arrived before the abort is not given out after it.
          if (signal.aborted) return;
          hasAnswered = true;
          yield event;
        }
        return;
      } catch (cause) {
        if (signal.aborted) return;
        if (cause instanceof HttpRefusal && cause.isAboutUsage && this.#asksForUsage) {
          this.#asksForUsage = false;
          continue;
        }
        const canRetry = !hasAnswered && attempt < ATTEMPTS && isPassing(cause);
        if (!canRetry || dueMs - clock.monotonicMs() <= RETRY_PAUSE_MS) throw toFailure(cause);
        await clock.sleep(RETRY_PAUSE_MS, signal);
      }
    }
  }

  async prewarm(): Promise<void> {
    await this.#deps.http
      .request({
        url: `${this.#baseUrl}/models`,
        method: 'GET',
        headers: this.#headers(),
        deadlineMs: 3_000,
        maxBytes: 1024 * 1024,
      })
      .catch(() => null);
  }

  async *#attempt(request: LlmRequest, firstTokenMs: number, signal: AbortSignal): AsyncGenerator<LlmEvent> {
    const stop = new AbortController();
    const leave = () => stop.abort();
    signal.addEventListener('abort', leave, { once: true });
    const hasBegun = new AbortController();
    void this.#deps.clock.sleep(firstTokenMs, hasBegun.signal).then(() => hasBegun.signal.aborted || leave());
    let stream: OutgoingStream | null = null;
    try {
      stream = await this.#open(request, firstTokenMs, stop.signal);
      if (stream.status !== 200) throw new HttpRefusal(stream.status, await startOf(stream.body));
      for await (const event of readReply(stream)) {
        hasBegun.abort();
        yield event;
      }
    } finally {
      hasBegun.abort();
      signal.removeEventListener('abort', leave);
      stream?.close();
      stop.abort();
    }
  }

  #open(request: LlmRequest, deadlineMs: number, signal: AbortSignal): Promise<OutgoingStream> {
    const { model, sendsSessionFields, gapDeadlineMs } = this.#settings;
    return this.#deps.http.stream({
      url: `${this.#baseUrl}/chat/completions`,
      method: 'POST',
      headers: { ...this.#headers(), 'content-type': 'application/json', accept: 'text/event-stream' },
      body: completionBody(request, { model, sendsSessionFields, asksForUsage: this.#asksForUsage }),
      deadlineMs,
      idleMs: gapDeadlineMs ?? 10_000,
      maxBytes: MAX_REPLY_BYTES,
      signal,
    });
  }

  #headers(): Record<string, string> {
    const { apiKey } = this.#settings;
    return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  }
}

/** Throws when the reply ends without saying that it is finished: half a tool call must not be run. */
async function* readReply(stream: OutgoingStream): AsyncGenerator<LlmEvent> {
  const tools = new ToolCallAssembler();
  let usage: CompletionDelta['usage'] = null;
  let isFinished = false;
  for await (const delta of readDeltas(stream)) {
    if (delta === 'done') {
      isFinished = true;
      break;
    }
    if (delta.text !== '') yield { type: 'text', text: delta.text };
    for (const call of delta.toolCalls) tools.push(call);
    usage = delta.usage ?? usage;
    // The usage comes after the finish in a chunk of its own, so reading goes on.
    isFinished ||= delta.isFinished;
  }
  if (!isFinished) throw new Error('the reply was cut off');
  for (const call of tools.finish()) yield { type: 'tool_call', call };
  if (usage) yield { type: 'usage', ...usage };
}

async function* readDeltas(stream: OutgoingStream): AsyncGenerator<CompletionDelta | 'done'> {
  if ((stream.headers['content-type'] ?? '').includes('application/json')) {
    // A server that doesn't stream sends the whole completion at once.
    yield readDelta(parseJson(await startOf(stream.body, MAX_REPLY_BYTES)));
    return;
  }
  for await (const data of readEventData(stream.body)) {
    if (data === '[DONE]') yield 'done';
    else if (data !== '') yield readDelta(parseJson(data));
  }
}

/** The parser's own error quotes what was said; this one may be logged. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the model sent malformed JSON');
  }
}

async function startOf(body: AsyncIterable<Uint8Array>, maxBytes = MAX_ERROR_BYTES): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    pieces.push(piece);
    size += piece.length;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}

function isPassing(cause: unknown): boolean {
  if (cause instanceof HttpRefusal)
    return cause.status === 408 || cause.status === 429 || cause.status >= 500;
  if (cause instanceof OutgoingError) return cause.code === 'connect_failed' || cause.code === 'timed_out';
  return true;
}

function toFailure(cause: unknown): Failure {
  const message =
    cause instanceof HttpRefusal ? `The model answered ${cause.status}` : 'The model failed to answer';
  return new Failure('upstream_failed', message, { cause });
}
