/** Everything the turn machine is told. Times are ms since the session's first join, on the session's own clock. */
export type TurnEvent = { readonly atMs: number } & (
  | { readonly type: 'caller.joined' }
  /** The transport dropped; the caller may come back within the reconnect window. */
  | { readonly type: 'caller.lost' }
  | { readonly type: 'caller.back' }
  | { readonly type: 'caller.left' }
  /** `onsetMs` is when the voice began, which is before it was noticed. */
  | { readonly type: 'speech.started'; readonly utterance: number; readonly onsetMs: number }
  | { readonly type: 'speech.ended'; readonly utterance: number; readonly lastSpeechMs: number }
  | {
      readonly type: 'transcript';
      readonly utterance: number;
      readonly text: string;
      readonly isFinal: boolean;
    }
  /** The recogniser gave up on the utterance; what it said so far stands. */
  | { readonly type: 'transcript.failed'; readonly utterance: number }
  /** The first audible frame of a reply went out. */
  | { readonly type: 'playout.started'; readonly epoch: number }
  /** The whole reply has been heard, or there was nothing to hear. */
  | { readonly type: 'playout.finished'; readonly epoch: number }
  /** The agent asked to hang up; the call ends when the reply has been heard. */
  | { readonly type: 'reply.hangs_up'; readonly epoch: number }
  | { readonly type: 'client.message'; readonly text: string; readonly wantsAudio: boolean }
  | { readonly type: 'client.interrupt' }
  | { readonly type: 'client.activity' }
  | { readonly type: 'client.hangup' }
  /** Somebody outside the call ends it: the API, a draining worker, a failure. */
  | { readonly type: 'end.requested'; readonly endReason: EndReason }
  | { readonly type: 'timer'; readonly timer: TimerName }
);

export type TimerName =
  | 'end_of_turn'
  | 'late_final'
  | 'false_interruption'
  | 'idle'
  | 'max_duration'
  | 'reconnect';

export type EndReason =
  | 'user_hangup'
  | 'agent_hangup'
  | 'conversation_timeout'
  | 'heartbeat_timeout'
  | 'llm_endpoint_failure'
  | 'internal_error'
  | 'cancelled';

/** Everything the turn machine decides. `why` is kept with the session: short, fixed words. */
export type TurnCommand = {
  readonly why: string;
} /** The caller's turn is over: `text` becomes history. */ & (
  | { readonly type: 'commit'; readonly turn: number; readonly text: string }
  /** Words that don't count as a turn: a backchannel, a cough. */
  | { readonly type: 'discard'; readonly utterances: readonly number[] }
  /** Begin the reply with this epoch. Everything of an older epoch is stale from now on. */
  | {
      readonly type: 'reply';
      readonly epoch: number;
      readonly turn: number;
      readonly trigger: 'greeting' | 'caller';
      readonly wantsAudio: boolean;
    }
  | { readonly type: 'pause'; readonly epoch: number }
  | { readonly type: 'resume'; readonly epoch: number }
  | { readonly type: 'cancel'; readonly epoch: number }
  | { readonly type: 'timer.set'; readonly timer: TimerName; readonly atMs: number }
  | { readonly type: 'timer.clear'; readonly timer: TimerName }
  | { readonly type: 'show'; readonly state: 'listening' | 'thinking' | 'speaking' }
  | { readonly type: 'end'; readonly status: 'completed' | 'failed'; readonly endReason: EndReason }
);
