import type { CallerConnection, CloseReason } from '../../media-worker/transport/caller-connection.ts';
import type { AgentEvent, AgentState } from '../../shared/livekit-events.ts';

/** A connection that notes what it is told. */
export class FakeCallerConnection implements CallerConnection {
  readonly protocol = 'livekit';
  readonly sent: { readonly samples: Int16Array; readonly rateHz: number; readonly atMs: number }[] = [];
  readonly events: AgentEvent[] = [];
  readonly states: AgentState[] = [];
  /** Text and whether it is final, by segment. */
  readonly agentSegments = new Map<string, { text: string; isFinal: boolean }>();
  readonly userSegments = new Map<string, { text: string; isFinal: boolean }>();
  closedWith: CloseReason | null = null;
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  sendAudio(samples: Int16Array, rateHz: number): void {
    this.sent.push({ samples, rateHz, atMs: this.#nowMs() });
  }

  sendEvent(event: AgentEvent): void {
    this.events.push(event);
  }

  setAgentState(state: AgentState): void {
    this.states.push(state);
  }

  sendAgentTranscript(segmentId: string, delta: string, isFinal: boolean): void {
    const before = this.agentSegments.get(segmentId)?.text ?? '';
    this.agentSegments.set(segmentId, { text: before + delta, isFinal });
  }

  sendUserTranscript(segmentId: string, text: string, isFinal: boolean): void {
    this.userSegments.set(segmentId, { text, isFinal });
  }

  async stats(): Promise<null> {
    return null;
  }

  close(reason: CloseReason): void {
    this.closedWith ??= reason;
  }

  /** Whether anything but silence was sent in the given stretch. */
  wasAudible(fromMs: number, toMs: number): boolean {
    return this.sent.some(
      ({ samples, atMs }) => atMs >= fromMs && atMs < toMs && samples.some((sample) => sample !== 0),
    );
  }
}
