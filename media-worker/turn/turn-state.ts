/** What steers the turn machine, from the agent's configuration. */
export interface TurnSettings {
  readonly language: string;
  readonly hasGreeting: boolean;
  readonly responseWaitMs: number;
  /** Upper bound of the wait after the last speech; null: none beyond the machine's own. */
  readonly responseMaxWaitMs: number | null;
  readonly eagerness: 'relaxed' | 'balanced' | 'eager';
  readonly isInterruptible: boolean;
  readonly interruptionSensitivity: 'low' | 'balanced' | 'high';
  readonly ignorePhrases: readonly string[];
  readonly hangupAfterMs: number;
  readonly maxDurationMs: number;
  readonly reconnectWindowMs: number;
}

export interface Utterance {
  readonly id: number;
  readonly text: string;
  readonly isFinal: boolean;
}

export interface OpenReply {
  readonly epoch: number;
  readonly isAudible: boolean;
  readonly isPaused: boolean;
  readonly hangsUp: boolean;
}

export interface TurnState {
  readonly settings: TurnSettings;
  readonly phase: 'waiting' | 'live' | 'lost' | 'ended';
  /** Number of the caller turn that is being collected, from 1. */
  readonly turn: number;
  /** Epoch of the newest reply, 0 before the first. */
  readonly epoch: number;
  readonly reply: OpenReply | null;
  readonly isCallerSpeaking: boolean;
  readonly lastSpeechMs: number;
  /** Utterances of the turn being collected, in order. */
  readonly utterances: readonly Utterance[];
  /** The wait after the last speech has passed; the turn commits as soon as its text is final. */
  readonly isTurnOver: boolean;
}

export function initialTurnState(settings: TurnSettings): TurnState {
  return {
    settings,
    phase: 'waiting',
    turn: 1,
    epoch: 0,
    reply: null,
    isCallerSpeaking: false,
    lastSpeechMs: 0,
    utterances: [],
    isTurnOver: false,
  };
}

/** What the caller has said in this turn so far. */
export function turnText(state: TurnState): string {
  return state.utterances
    .map((u) => u.text.trim())
    .filter((text) => text !== '')
    .join(' ');
}
