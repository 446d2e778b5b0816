import { createSileroVad } from '../../media-worker/vad/engines/silero/silero-vad.ts';
import { createLoudnessVad } from '../fakes/loudness-vad.ts';
import { vadEngineContract } from './vad-engine.contract.ts';

vadEngineContract('Silero', createSileroVad);
vadEngineContract('the fake', async () => createLoudnessVad());
