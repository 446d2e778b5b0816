import { Failure } from '../../shared/errors.ts';
import type { AsrEngine } from './asr-engine.ts';

/** Stands where no recogniser could be made ready: calls go on, and only typed messages are understood. */
export function noRecogniser(reason: string): AsrEngine {
  return {
    name: 'none',
    sampleRateHz: 16_000,
    hasPartials: false,
    understands: () => false,
    open: async () => {
      throw new Failure('unavailable', reason);
    },
    close: async () => {},
  };
}
