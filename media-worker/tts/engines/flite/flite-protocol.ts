import type { SpokenWord } from '../../tts-engine.ts';
import type { FliteVoice } from './flite-program.ts';
import type { FlitePiece } from './flite-text.ts';

/** Engine to thread. One at a time: the thread is given the next piece when it has answered. */
export interface FliteJob {
  readonly piece: FlitePiece;
  readonly voice: FliteVoice;
  readonly durationStretch: number;
}

/** Thread to engine. Times start at the first sample; the samples' buffer is handed over. */
export type FliteAnswer =
  | { readonly type: 'ready' }
  | {
      readonly type: 'speech';
      readonly samples: Int16Array;
      readonly sampleRateHz: number;
      readonly words: readonly SpokenWord[];
    }
  | { readonly type: 'failed'; readonly message: string };
