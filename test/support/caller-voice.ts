import { loadResampler } from '../../media-worker/codec/resample.ts';
import { FliteEngine } from '../../media-worker/tts/engines/flite/flite-engine.ts';
import { silentLogger } from '../../shared/log.ts';
import { systemClock } from '../../shared/time.ts';
import { joined } from './speech-samples.ts';

/** What the test callers' microphones send. */
export const CALLER_RATE_HZ = 48_000;

/** A voice for scripted callers: another one than the agent's, so that nobody hears themselves. */
export async function createCallerVoice(voice: 'rms' | 'awb' | 'kal16' = 'rms') {
  const flite = new FliteEngine({ clock: systemClock, log: silentLogger });
  const openResampler = await loadResampler();

  /** Speaks the text at 48 kHz. */
  async function say(text: string): Promise<Int16Array> {
    const parts: Int16Array[] = [];
    let resampler: ReturnType<typeof openResampler> | null = null;
    for await (const chunk of flite.synthesize(
      { text, voice, language: 'en', speed: 1 },
      AbortSignal.timeout(10_000),
    )) {
      if (chunk.type !== 'audio') continue;
      resampler ??= openResampler(chunk.sampleRateHz, CALLER_RATE_HZ);
      parts.push(resampler.push(chunk.samples));
    }
    if (resampler) parts.push(resampler.flush());
    resampler?.close();
    return joined(...parts);
  }

  return { say, close: () => flite.close() };
}
