import type { AgentConfig } from '../../shared/agent-config.ts';
import type { SessionSpec } from '../../shared/generated/parley/v1/worker_link.ts';
import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import type { AsrEngine, AsrSession } from '../asr/asr-engine.ts';
import { RateFollower } from '../codec/rate-follower.ts';
import type { OpenResampler } from '../codec/resample.ts';
import type { LlmEngine, LlmToolCall } from '../llm/llm-engine.ts';
import { greetingInstruction, systemMessage } from '../llm/prompt.ts';
import { SentenceSplitter } from '../llm/sentence-splitter.ts';
import { PLAYOUT_RATE_HZ } from '../playout/playout-queue.ts';
import type { Ticker } from '../playout/ticker.ts';
import type { TtsEngine } from '../tts/tts-engine.ts';
import type { VadEngine } from '../vad/vad-engine.ts';
import { VadStage } from '../vad/vad-stage.ts';
import { readAgentConfig, turnSettings } from './agent-settings.ts';
import { HANG_UP_TOOL, makeReply, type ReplyDeps, type ReplyRequest } from './reply.ts';
import type { ReplyMaker, ReplyOrder } from './reply-in-progress.ts';
import { Session } from './session.ts';
import { createSessionPublisher, type EventBody } from './session-publisher.ts';
import { apology, HANG_UP, hangUpResult } from './spoken-lines.ts';
import type { TurnLatency } from './turn-latency.ts';

export interface PipelineDeps {
  readonly vad: VadEngine;
  readonly asr: AsrEngine;
  readonly llm: LlmEngine;
  readonly tts: TtsEngine;
  readonly openResampler: OpenResampler;
  readonly ticker: Ticker;
  readonly clock: Clock;
  readonly log: Logger;
  readonly publish: (sessionId: string, event: EventBody) => void;
  readonly onTurnMeasured: (latency: TurnLatency) => void;
}

/**
 * A whole call, put together:
 *
 *   caller ─► transport ─► RateFollower (16 kHz) ─► VadStage ─► speech started/ended ─┐
 *                                   └► FrameQueue ─► AsrEngine ─► partial, final ─────┤
 *                                                                            turn machine
 *   caller ◄─ transport ◄─ Ticker ◄─ PlayoutQueue ◄─ TtsEngine ◄─ sentences ◄─ LlmEngine ◄─ reply
 *                                      └► heard words ─► transcript, history, timeline
 */
export async function openSession(
  deps: PipelineDeps,
  spec: SessionSpec,
  onEnded: () => void,
): Promise<Session> {
  const config = readAgentConfig(spec);
  const log = deps.log.child({ sessionId: spec.sessionId });
  const follower = new RateFollower(deps.openResampler, deps.asr.sampleRateHz);
  const vad = new VadStage(deps.vad);
  // Between admission and the first word lies the join: enough to load a voice that isn't loaded yet.
  void deps.tts
    .prewarm(spec.language)
    .catch((err: unknown) => log.warn({ err }, 'voice could not be loaded ahead'));
  return new Session({
    sessionId: spec.sessionId,
    settings: turnSettings(spec, config),
    clock: deps.clock,
    log,
    ticker: deps.ticker,
    publisher: createSessionPublisher(spec.sessionId, deps.publish),
    asr: await openAsr(deps, spec, config, log),
    openEar: {
      follow: (samples, rateHz) => follower.push(samples, rateHz),
      hear: (frame) => vad.push(frame).flatMap(({ boundary }) => boundary ?? []),
    },
    closeEar: () => {
      follower.close();
      vad.close();
    },
    makeReply: createReplyMaker(deps, spec, config, log),
    onTurnMeasured: deps.onTurnMeasured,
    onEnded,
  });
}

/** Without a recogniser the call goes on: the agent speaks and typed messages are understood. */
async function openAsr(
  deps: PipelineDeps,
  spec: SessionSpec,
  config: AgentConfig,
  log: Logger,
): Promise<AsrSession | null> {
  if (!deps.asr.understands(spec.language)) {
    log.warn({ language: spec.language }, 'no recogniser for this language: typed messages only');
    return null;
  }
  try {
    return await deps.asr.open({ language: spec.language, keyterms: config.asr.keyterms });
  } catch (err) {
    log.warn({ err }, 'no recogniser: typed messages only');
    return null;
  }
}

function createReplyMaker(
  deps: PipelineDeps,
  spec: SessionSpec,
  config: AgentConfig,
  log: Logger,
): ReplyMaker {
  const tools = config.tools.enabled && config.tools.system_tools.hang_up_call ? [HANG_UP] : [];
  const request = (order: ReplyOrder, verbatim: string | null): ReplyRequest => ({
    verbatim,
    messages: () => [
      systemMessage(
        {
          systemPrompt: spec.systemPrompt,
          knowledge: spec.knowledgeText,
          language: spec.language,
          hasWorldContext: spec.worldContext,
          timeZone: spec.timezone,
        },
        deps.clock.nowMs(),
      ),
      ...order.history,
      ...(order.trigger === 'greeting' ? [greetingInstruction(spec.firstMessagePrompt)] : []),
    ],
    tools,
    sessionId: spec.sessionId,
    endUserId: spec.endUserId,
    language: spec.language,
    voice: spec.voiceId,
    speed: config.voice.speed,
    isSpoken: order.isSpoken,
  });

  return async (order, queue, signal) => {
    let hasAnswer = false;
    const replyDeps: ReplyDeps = {
      llm: deps.llm,
      tts: deps.tts,
      openSplitter: () => new SentenceSplitter(),
      openResampler: (inputHz) => deps.openResampler(inputHz, PLAYOUT_RATE_HZ),
      runTool: (call) => runTool(order, call, deps.clock),
      onMark: order.onMark,
      onSentence: (text) => {
        hasAnswer = true;
        order.onSentence(text);
      },
    };
    const verbatim =
      order.trigger === 'greeting' && spec.firstMessageMode === 'fixed' ? spec.firstMessage : null;
    try {
      await makeReply(replyDeps, request(order, verbatim), queue, signal);
    } catch (error) {
      // The caller must not sit in silence: a model that fails before its first sentence is apologised for.
      if (!hasAnswer && !signal.aborted) {
        log.warn({ err: error }, 'reply failed before its first sentence');
        await makeReply(replyDeps, request(order, apology(spec.language)), queue, signal);
      }
      throw error;
    }
  };
}

/** The agent's own tools; there is one. */
async function runTool(order: ReplyOrder, call: LlmToolCall, clock: Clock): Promise<string> {
  const startedMs = clock.monotonicMs();
  order.onToolCall(call.callId, call.name, call.argumentsJson);
  const isKnown = call.name === HANG_UP_TOOL;
  if (isKnown) order.onHangUp();
  const output = isKnown ? hangUpResult() : 'There is no such tool.';
  order.onToolResult(call.callId, call.name, output, clock.monotonicMs() - startedMs);
  return output;
}
