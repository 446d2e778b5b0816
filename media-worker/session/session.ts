import type { AgentState, ClientEvent, SessionEndedReason } from '../../shared/livekit-events.ts';
import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import type { AsrSession } from '../asr/asr-engine.ts';
import type { Ticker } from '../playout/ticker.ts';
import type { CallerConnection, CallerListener, CloseReason } from '../transport/caller-connection.ts';
import type { EndReason, TurnCommand, TurnEvent } from '../turn/turn-event.ts';
import { reduce } from '../turn/turn-machine.ts';
import { initialTurnState, type TurnSettings, type TurnState } from '../turn/turn-state.ts';
import { AgentVoice } from './agent-voice.ts';
import { CallerEar, type CallerEarDeps } from './caller-ear.ts';
import { Conversation } from './conversation.ts';
import { DecisionLog } from './decision-log.ts';
import { ReplyInProgress, type ReplyMaker } from './reply-in-progress.ts';
import type { SessionPublisher } from './session-publisher.ts';
import { SessionTimers } from './session-timers.ts';
import { Timeline } from './timeline.ts';
import { TurnLatency } from './turn-latency.ts';

export interface SessionDeps {
  readonly sessionId: string;
  readonly settings: TurnSettings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly ticker: Ticker;
  readonly publisher: SessionPublisher;
  readonly asr: AsrSession | null;
  readonly openEar: Pick<CallerEarDeps, 'follow' | 'hear'>;
  readonly closeEar: () => void;
  readonly makeReply: ReplyMaker;
  readonly onTurnMeasured: (latency: TurnLatency) => void;
  /** The session is over and has told the control plane; its slot is free once that is stored. */
  readonly onEnded: () => void;
}

/** Three replies without a model in a row and the call can't go on. */
const MAX_FAILED_REPLIES = 3;

/**
 * One live conversation: hands what happens to the turn machine and carries out what it decides. Holds the parts
 * together; the rules are in turn/, the audio in CallerEar and AgentVoice, the words in ReplyInProgress.
 */
export class Session {
  readonly #deps: SessionDeps;
  readonly #voice: AgentVoice;
  readonly #ear: CallerEar;
  readonly #timers: SessionTimers;
  readonly #timeline: Timeline;
  readonly #decisions: DecisionLog;
  readonly #conversation = new Conversation();
  #turns: TurnState;
  #connection: CallerConnection | null = null;
  #agentState: AgentState = 'initializing';
  #reply: ReplyInProgress | null = null;
  #latency: TurnLatency | null = null;
  #firstJoinMs: number | null = null;
  #startedAtMs = 0;
  #turnStartedAtMs: number | null = null;
  #lastFinalMs = 0;
  /** Newest text the caller has seen of each utterance that isn't final. */
  readonly #shownText = new Map<number, string>();
  #failedReplies = 0;
  #isEnded = false;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.#turns = initialTurnState(deps.settings);
    this.#timers = new SessionTimers(
      deps.clock,
      () => this.#nowMs(),
      (timer) => this.#happen({ type: 'timer', timer, atMs: this.#nowMs() }),
    );
    this.#timeline = new Timeline({
      publishItem: (json) => deps.publisher.item(json),
      nowMs: () => deps.clock.nowMs(),
    });
    this.#decisions = new DecisionLog((lines) => deps.publisher.decisions(lines));
    this.#voice = new AgentVoice({
      send: (samples, rateHz) => this.#connection?.sendAudio(samples, rateHz),
      monotonicMs: () => deps.clock.monotonicMs(),
      onStarted: (epoch) => this.#onPlayoutStarted(epoch),
      onHeard: (epoch, words) => this.#reply?.onHeard(epoch, words),
      onFinished: (epoch) => this.#onPlayoutFinished(epoch),
    });
    this.#ear = new CallerEar({
      ...deps.openEar,
      asr: deps.asr,
      nowMs: () => this.#nowMs(),
      onSpeechStarted: (utterance, onsetMs) => this.#onSpeechStarted(utterance, onsetMs),
      onSpeechEnded: (utterance, lastSpeechMs) =>
        this.#happen({ type: 'speech.ended', utterance, lastSpeechMs, atMs: this.#nowMs() }),
      onTranscript: (utterance, text, isFinal) => this.#onTranscript(utterance, text, isFinal),
      onAsrFailed: (utterance, error) => this.#onAsrFailed(utterance, error),
    });
  }

  get hasEnded(): boolean {
    return this.#isEnded;
  }

  get hasJoined(): boolean {
    return this.#firstJoinMs !== null;
  }

  /** Takes over the call for this connection; the one before it is closed with `replaced`. */
  attach(connection: CallerConnection): CallerListener {
    const before = this.#connection;
    this.#connection = connection;
    before?.close('replaced');
    connection.setAgentState(this.#agentState);
    const isCurrent = () => this.#connection === connection && !this.#isEnded;
    const whileCurrent = (work: () => void) => isCurrent() && this.#guarded(work);
    return {
      onMediaConnected: () => whileCurrent(() => this.#onMediaConnected(connection)),
      onAudio: (samples, rateHz) => whileCurrent(() => this.hasJoined && this.#ear.push(samples, rateHz)),
      onClientEvent: (event) => whileCurrent(() => this.#onClientEvent(event)),
      onGone: (how) => whileCurrent(() => this.#onGone(how)),
    };
  }

  /** A fault of ours ends this call alone: the worker and its other calls go on. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (err) {
      this.#deps.log.error({ err }, 'session failed');
      this.end('internal_error');
    }
  }

  /** Ends the call from outside. Safe to call twice. */
  end(endReason: EndReason): void {
    this.#happen({ type: 'end.requested', endReason, atMs: this.#nowMs() });
  }

  /** Frees a session that nobody joined; the control plane isn't told. */
  dispose(): void {
    if (this.#isEnded || this.hasJoined) return;
    this.#isEnded = true;
    this.#closeParts('worker_shutdown');
  }

  /** ms since the first join, on the monotonic clock. */
  #nowMs(): number {
    return this.#firstJoinMs === null ? 0 : this.#deps.clock.monotonicMs() - this.#firstJoinMs;
  }

  #onMediaConnected(connection: CallerConnection): void {
    if (this.#firstJoinMs !== null) return this.#happen({ type: 'caller.back', atMs: this.#nowMs() });
    this.#firstJoinMs = this.#deps.clock.monotonicMs();
    this.#startedAtMs = this.#deps.clock.nowMs();
    this.#deps.publisher.joined(connection.protocol);
    this.#deps.ticker.add(this.#voice);
    this.#happen({ type: 'caller.joined', atMs: 0 });
  }

  #onGone(how: 'left' | 'lost'): void {
    this.#connection = null;
    // Somebody who left before any media came may still join with the same token.
    if (!this.hasJoined) return;
    if (how === 'lost') this.#ear.cut();
    this.#happen({ type: how === 'left' ? 'caller.left' : 'caller.lost', atMs: this.#nowMs() });
  }

  #onClientEvent(event: ClientEvent): void {
    const atMs = this.#nowMs();
    if (!this.hasJoined || event.type === 'client_tool.result') return;
    if (event.type === 'user.message')
      this.#happen({ type: 'client.message', text: event.text, wantsAudio: event.audio !== false, atMs });
    else if (event.type === 'user.interrupt') this.#happen({ type: 'client.interrupt', atMs });
    else if (event.type === 'user.activity') this.#happen({ type: 'client.activity', atMs });
    else this.#happen({ type: 'client.hangup', atMs });
  }

  #onSpeechStarted(utterance: number, onsetMs: number): void {
    this.#turnStartedAtMs ??= this.#startedAtMs + onsetMs;
    this.#happen({ type: 'speech.started', utterance, onsetMs, atMs: this.#nowMs() });
  }

  #onTranscript(utterance: number, text: string, isFinal: boolean): void {
    if (isFinal) this.#lastFinalMs = this.#nowMs();
    this.#showUserText(utterance, text, isFinal);
    this.#happen({ type: 'transcript', utterance, text, isFinal, atMs: this.#nowMs() });
  }

  /** A final that comes after its turn was committed closes the segment with the words that became history. */
  #showUserText(utterance: number, text: string, isFinal: boolean): void {
    const isOpen = this.#turns.utterances.some(({ id }) => id === utterance);
    const shown = isOpen ? text : (this.#shownText.get(utterance) ?? '');
    if (isFinal) this.#shownText.delete(utterance);
    else this.#shownText.set(utterance, shown);
    if (isFinal || (isOpen && shown !== ''))
      this.#connection?.sendUserTranscript(`user-${utterance}`, shown, isFinal);
  }

  #onAsrFailed(utterance: number, error: unknown): void {
    this.#deps.log.warn({ err: error }, 'recogniser failed');
    this.#connection?.sendEvent({ type: 'error', code: 'provider_error' });
    this.#happen({ type: 'transcript.failed', utterance, atMs: this.#nowMs() });
  }

  #onPlayoutStarted(epoch: number): void {
    this.#reply?.onAudible(epoch, this.#deps.clock.nowMs());
    if (this.#latency) {
      this.#latency.mark('first_frame_out', this.#nowMs());
      this.#deps.publisher.turnMetrics(this.#latency);
      this.#deps.onTurnMeasured(this.#latency);
      this.#latency = null;
    }
    this.#happen({ type: 'playout.started', epoch, atMs: this.#nowMs() });
  }

  #onPlayoutFinished(epoch: number): void {
    this.#closeReply(epoch, false);
    // The last apology has been heard: this call can't go on.
    if (this.#failedReplies >= MAX_FAILED_REPLIES) return this.end('internal_error');
    this.#happen({ type: 'playout.finished', epoch, atMs: this.#nowMs() });
  }

  /** The one place where the turn machine runs. */
  #happen(event: TurnEvent): void {
    if (this.#isEnded) return;
    const { state, commands } = reduce(this.#turns, event);
    this.#turns = state;
    if (commands.length > 0 || event.type === 'transcript') this.#decisions.add(event, commands);
    for (const command of commands) this.#carryOut(command);
  }

  #carryOut(command: TurnCommand): void {
    switch (command.type) {
      case 'commit':
        return this.#commit(command.turn, command.text);
      case 'discard':
        this.#turnStartedAtMs = null;
        return;
      case 'reply':
        return this.#startReply(command);
      case 'pause':
        return this.#voice.pause(command.epoch);
      case 'resume':
        return this.#voice.resume(command.epoch);
      case 'cancel':
        this.#voice.cancel(command.epoch);
        return this.#closeReply(command.epoch, true);
      case 'timer.set':
        return this.#timers.set(command.timer, command.atMs);
      case 'timer.clear':
        return this.#timers.clear(command.timer);
      case 'show':
        this.#agentState = command.state;
        return this.#connection?.setAgentState(command.state);
      case 'end':
        return this.#end(command.status, command.endReason);
    }
  }

  #commit(turn: number, text: string): void {
    this.#timeline.userMessage(turn, text, this.#turnStartedAtMs ?? this.#deps.clock.nowMs());
    this.#conversation.addUser(text);
    this.#turnStartedAtMs = null;
    this.#latency = new TurnLatency(turn);
    this.#latency.mark('speech_ended', this.#turns.lastSpeechMs);
    this.#latency.mark('asr_final', this.#lastFinalMs);
    this.#latency.mark('end_of_turn', this.#nowMs());
  }

  #startReply(command: Extract<TurnCommand, { type: 'reply' }>): void {
    const latency = this.#latency;
    this.#reply = new ReplyInProgress({
      epoch: command.epoch,
      turn: command.turn,
      trigger: command.trigger,
      isSpoken: command.wantsAudio,
      queue: this.#voice.begin(command.epoch),
      conversation: this.#conversation,
      timeline: this.#timeline,
      makeReply: this.#deps.makeReply,
      nowMs: () => this.#deps.clock.nowMs(),
      showText: (segmentId, delta, isFinal) =>
        this.#connection?.sendAgentTranscript(segmentId, delta, isFinal),
      onMark: (mark) => latency?.mark(mark, this.#nowMs()),
      onHangUp: () => this.#happen({ type: 'reply.hangs_up', epoch: command.epoch, atMs: this.#nowMs() }),
      onMade: () => {
        this.#failedReplies = 0;
      },
      onFailed: (error) => this.#onReplyFailed(command.epoch, error),
    });
    this.#reply.start();
  }

  #onReplyFailed(epoch: number, error: unknown): void {
    this.#deps.log.warn({ err: error, epoch }, 'reply failed');
    this.#connection?.sendEvent({ type: 'error', code: 'provider_error' });
    this.#failedReplies++;
  }

  #closeReply(epoch: number, wasInterrupted: boolean): void {
    if (this.#reply?.epoch !== epoch) return;
    this.#reply.close(wasInterrupted);
    this.#reply = null;
  }

  #end(status: 'completed' | 'failed', endReason: EndReason): void {
    this.#isEnded = true;
    this.#decisions.flush();
    const endedAtMs = this.#deps.clock.nowMs();
    this.#deps.publisher.ended(status, endReason, this.hasJoined ? this.#startedAtMs : endedAtMs, endedAtMs);
    const told = SESSION_ENDED_REASONS[endReason];
    if (told) this.#connection?.sendEvent({ type: 'session.ended', reason: told });
    this.#closeParts(CLOSE_REASONS[endReason] ?? 'internal_error');
    this.#deps.onEnded();
  }

  #closeParts(reason: CloseReason): void {
    this.#timers.clearAll();
    this.#deps.ticker.remove(this.#voice);
    this.#ear.close();
    this.#deps.closeEar();
    this.#connection?.close(reason);
    this.#connection = null;
    void this.#deps.asr
      ?.close()
      .catch((err: unknown) => this.#deps.log.warn({ err }, 'recogniser did not close'));
  }
}

const SESSION_ENDED_REASONS: Partial<Record<EndReason, SessionEndedReason>> = {
  user_hangup: 'user_hangup',
  agent_hangup: 'agent_hangup',
  conversation_timeout: 'conversation_timeout',
};

const CLOSE_REASONS: Partial<Record<EndReason, CloseReason>> = {
  user_hangup: 'user_hangup',
  agent_hangup: 'agent_hangup',
  conversation_timeout: 'conversation_timeout',
};
