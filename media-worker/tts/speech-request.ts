import { Failure } from '../../shared/errors.ts';
import type { SpeechRequest, TtsEngine } from './tts-engine.ts';

export const MAX_SENTENCE_CHARACTERS = 300;

/** The refusals every engine has in common: `Failure('unprocessable')` before anything is spent. */
export function refuseUnspeakable(engine: Pick<TtsEngine, 'speaks'>, request: SpeechRequest): void {
  if (!engine.speaks(request.language))
    throw new Failure('unprocessable', `There is no voice for the language ${request.language}`);
  if (request.text.length > MAX_SENTENCE_CHARACTERS)
    throw new Failure('unprocessable', `A sentence has at most ${MAX_SENTENCE_CHARACTERS} characters`);
  if (!/[\p{L}\p{N}]/u.test(request.text))
    throw new Failure('unprocessable', 'The text has nothing to speak');
  if (!(request.speed >= 0.5 && request.speed <= 2))
    throw new Failure('unprocessable', 'The speed is between 0.5 and 2');
}
