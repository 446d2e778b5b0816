import { Failure } from '../../shared/errors.ts';
import { type AudioFormat, CONTENT_TYPES } from '../codec/audio-format.ts';
import type { TtsBody } from './tts-schema.ts';

const PCM_RATES_HZ = [8_000, 16_000, 24_000, 32_000, 44_100];
const RATES_HZ: Readonly<Record<AudioFormat['codec'], readonly number[]>> = {
  wav: PCM_RATES_HZ,
  pcm: PCM_RATES_HZ,
  mp3: [32_000, 44_100],
  opus: [48_000],
};

/** The format a request asks for. Throws `Failure` 400 for a rate that the codec doesn't have. */
export function outputFormat(body: TtsBody): AudioFormat {
  const codec = body.format ?? 'mp3';
  const sampleRateHz = body.sample_rate ?? (codec === 'opus' ? 48_000 : 44_100);
  if (!RATES_HZ[codec].includes(sampleRateHz)) {
    throw new Failure(
      'bad_request',
      `Invalid sample rate ${sampleRateHz} for format ${CONTENT_TYPES[codec]}. Valid sample rates: ${RATES_HZ[codec].join(', ')}`,
    );
  }
  switch (codec) {
    case 'wav':
    case 'pcm':
      return { codec, sampleRateHz };
    case 'mp3':
      return { codec, sampleRateHz, bitrateKbps: body.mp3_bitrate ?? 128 };
    case 'opus':
      return { codec, sampleRateHz: 48_000, bitrateBps: opusBitrate(body.opus_bitrate ?? -1_000) };
  }
}

/** Kilobits and bits tell themselves apart by their size; a negative number leaves it to the encoder. */
function opusBitrate(given: number): number | null {
  if (given < 0) return null;
  return given < 1_000 ? given * 1_000 : given;
}
