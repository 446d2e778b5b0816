import type { Ending } from './ending.ts';
import type { TranscriptPiece } from './transcript.ts';

export type CallPhase = 'connecting' | 'live' | 'reconnecting';

/** What happens in a call. `onEnded` comes once and is the last. */
export interface CallListener {
  readonly onPhase: (phase: CallPhase) => void;
  /** initializing, idle, listening, thinking, speaking. */
  readonly onAgentState: (state: string) => void;
  readonly onPiece: (piece: TranscriptPiece) => void;
  /** Something beside the talk: a tool at work, an error that the call outlives. */
  readonly onNote: (text: string) => void;
  readonly onAgentAudio: (track: MediaStreamTrack) => void;
  /** The browser lets sound out only after another click; `unlock` is to be called in it. */
  readonly onSoundBlocked: (isBlocked: boolean) => void;
  readonly onEnded: (ending: Ending) => void;
}
