import type { ChatMessage, LlmEngine, LlmTool, LlmToolCall } from '../llm/llm-engine.ts';
import type { PlayoutQueue } from '../playout/playout-queue.ts';
import { PLAYOUT_RATE_HZ } from '../playout/playout-queue.ts';
import type { TtsEngine } from '../tts/tts-engine.ts';
import { TextFeed } from './text-feed.ts';

/** A model that keeps calling tools is cut off after this many rounds. */
const MAX_TOOL_ROUNDS = 5;
/** A reply longer than this is cut at the sentence: nobody listens that long. */
const MAX_REPLY_CHARACTERS = 8_000;

export interface ReplyDeps {
  readonly llm: LlmEngine;
  readonly tts: TtsEngine;
  /** A new splitter for one reply: text in, whole sentences out. */
  readonly openSplitter: () => { push(text: string): string[]; flush(): string[] };
  /** Brings one sentence's audio to the playout rate; opened per sentence. */
  readonly openResampler: (inputRateHz: number) => {
    push(samples: Int16Array): Int16Array;
    flush(): Int16Array;
    close(): void;
  };
  /** Runs a tool and answers what the model is told. Never throws. */
  readonly runTool: (call: LlmToolCall, signal: AbortSignal) => Promise<string>;
  readonly onMark: (mark: 'llm_first_token' | 'first_sentence' | 'tts_first_audio') => void;
  /** A sentence is about to be spoken (or, in text mode, is the answer). */
  readonly onSentence: (text: string) => void;
}

export interface ReplyRequest {
  /** Spoken as it is, without asking the model; null asks the model. */
  readonly verbatim: string | null;
  readonly messages: () => readonly ChatMessage[];
  readonly tools: readonly LlmTool[];
  readonly sessionId: string;
  readonly endUserId: string;
  readonly language: string;
  readonly voice: string | null;
  readonly speed: number;
  /** False: the answer is text alone. */
  readonly isSpoken: boolean;
}

/**
 * Makes one reply: model → sentences → speech → `queue`. The model runs ahead of the voice. Aborting `signal`
 * stops both; the promise then resolves. It rejects when an engine failed; what was written before is still heard.
 * Completing the queue is the caller's.
 */
export async function makeReply(
  deps: ReplyDeps,
  request: ReplyRequest,
  queue: PlayoutQueue,
  signal: AbortSignal,
): Promise<void> {
  const sentences = new TextFeed();
  const stop = new AbortController();
  const onAbort = () => {
    stop.abort();
    sentences.end();
  };
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  const thinking = think(deps, request, sentences, stop.signal).then(
    () => sentences.end(),
    (error: unknown) => sentences.fail(error),
  );
  try {
    for await (const sentence of sentences) {
      if (stop.signal.aborted) break;
      deps.onMark('first_sentence');
      deps.onSentence(sentence);
      if (request.isSpoken) await speak(deps, request, sentence, queue, stop.signal);
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    stop.abort();
    await thinking;
  }
}

async function think(
  deps: ReplyDeps,
  request: ReplyRequest,
  sentences: TextFeed,
  signal: AbortSignal,
): Promise<void> {
  const splitter = deps.openSplitter();
  if (request.verbatim !== null) {
    sentences.push([...splitter.push(request.verbatim), ...splitter.flush()]);
    return;
  }
  let messages = request.messages();
  let characters = 0;
  for (let round = 0; round < MAX_TOOL_ROUNDS; round++) {
    const calls: LlmToolCall[] = [];
    const llmRequest = { ...request, messages };
    for await (const event of deps.llm.reply(llmRequest, signal)) {
      if (event.type === 'text') {
        deps.onMark('llm_first_token');
        characters += event.text.length;
        sentences.push(splitter.push(event.text));
      } else if (event.type === 'tool_call') calls.push(event.call);
      if (characters > MAX_REPLY_CHARACTERS) break;
    }
    sentences.push(splitter.flush());
    if (calls.length === 0 || signal.aborted || characters > MAX_REPLY_CHARACTERS) return;
    const outputs = await Promise.all(calls.map((call) => deps.runTool(call, signal)));
    if (calls.every((call) => call.name === HANG_UP_TOOL) && characters > 0) return;
    messages = [
      ...messages,
      { role: 'assistant', content: '', toolCalls: calls },
      ...calls.map(
        (call, i): ChatMessage => ({ role: 'tool', callId: call.callId, content: outputs[i] ?? '' }),
      ),
    ];
  }
}

/** The system tool with which the agent ends the call; it needs no further words of the model. */
export const HANG_UP_TOOL = 'hang_up_call';

async function speak(
  deps: ReplyDeps,
  request: ReplyRequest,
  text: string,
  queue: PlayoutQueue,
  signal: AbortSignal,
): Promise<void> {
  await queue.room();
  const originSample = queue.writtenSamples;
  const speech = deps.tts.synthesize(
    { text, voice: request.voice, language: request.language, speed: request.speed },
    signal,
  );
  let resampler: ReturnType<ReplyDeps['openResampler']> | null = null;
  try {
    for await (const chunk of speech) {
      if (signal.aborted) return;
      if (chunk.type === 'words') queue.writeWords(chunk.words, originSample);
      else {
        deps.onMark('tts_first_audio');
        if (chunk.sampleRateHz !== PLAYOUT_RATE_HZ) resampler ??= deps.openResampler(chunk.sampleRateHz);
        queue.write(resampler ? resampler.push(chunk.samples) : chunk.samples);
      }
    }
    if (resampler) queue.write(resampler.flush());
  } finally {
    resampler?.close();
  }
}
