import { beforeAll, expect, test } from 'vitest';
import { tone, toneShare } from '../../test/support/pitch.ts';
import type { AudioFormat } from './audio-format.ts';
import { EncodingChain } from './encoding-chain.ts';
import { loadMp3Encoders, type Mp3Encoders } from './mp3.ts';
import { loadResampler, type OpenResampler } from './resample.ts';
import { joinBytes } from './stream-encoder.ts';
import { decodeUpload } from './upload/decode-upload.ts';

let open: OpenResampler;
let mp3: Mp3Encoders;
beforeAll(async () => {
  [open, mp3] = await Promise.all([loadResampler(), loadMp3Encoders(2)]);
});

const AS_IT_IS = { volumeDb: 0, normalizes: false };

const FORMATS: readonly (readonly [string, AudioFormat])[] = [
  ['wav 8000', { codec: 'wav', sampleRateHz: 8_000 }],
  ['wav 44100', { codec: 'wav', sampleRateHz: 44_100 }],
  ['mp3 32000 at 64', { codec: 'mp3', sampleRateHz: 32_000, bitrateKbps: 64 }],
  ['mp3 44100 at 128', { codec: 'mp3', sampleRateHz: 44_100, bitrateKbps: 128 }],
  ['mp3 44100 at 192', { codec: 'mp3', sampleRateHz: 44_100, bitrateKbps: 192 }],
  ['opus, its own bitrate', { codec: 'opus', sampleRateHz: 48_000, bitrateBps: null }],
  ['opus at 24000', { codec: 'opus', sampleRateHz: 48_000, bitrateBps: 24_000 }],
];

async function openChain(format: AudioFormat): Promise<EncodingChain> {
  await mp3.prepare();
  return new EncodingChain({ format, level: AS_IT_IS, serial: 7 }, open, mp3);
}

async function decoded(bytes: Uint8Array): Promise<{ samples: Int16Array; rateHz: number }> {
  const parts: Int16Array[] = [];
  let rateHz = 0;
  for await (const { channels, sampleRateHz } of decodeUpload(bytes, { ffmpeg: 'none', maxSeconds: 60 })) {
    parts.push(Int16Array.from(channels[0] ?? [], (value) => Math.round(value * 32_767)));
    rateHz = sampleRateHz;
  }
  const samples = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => {
    samples.set(part, at);
    return at + part.length;
  }, 0);
  return { samples, rateHz };
}

function push(chain: EncodingChain, samples: Int16Array, rateHz: number, pieceMs = 200): Uint8Array[] {
  const length = (rateHz * pieceMs) / 1000;
  const made: Uint8Array[] = [];
  for (let at = 0; at < samples.length; at += length)
    made.push(chain.push(samples.slice(at, at + length), rateHz));
  return made;
}

test.each(FORMATS)('%s: what went in comes out, as long and as pure', async (_name, format) => {
  const chain = await openChain(format);

  const parts = [...push(chain, tone(1_000, 2_000, 24_000), 24_000), chain.finish()];

  const { samples, rateHz } = await decoded(joinBytes(parts));
  const lastsMs = (samples.length * 1000) / rateHz;
  expect(Math.abs(lastsMs - 2_000)).toBeLessThan(format.codec === 'mp3' ? 80 : 1);
  const middle = samples.slice(rateHz / 2, rateHz * 1.5);
  expect(toneShare(middle, rateHz, 1_000)).toBeGreaterThan(0.99);
});

test.each(FORMATS)('%s: bytes come with the first piece, not at the end', async (_name, format) => {
  const chain = await openChain(format);

  const [first] = push(chain, tone(1_000, 200, 16_000), 16_000);

  expect(first?.length).toBeGreaterThan(200);
  chain.finish();
});

test.each(FORMATS)(
  '%s: settling brings out the last sample, and the stream goes on',
  async (_name, format) => {
    const chain = await openChain(format);
    const heard = [...push(chain, tone(1_000, 1_000, 24_000), 24_000), chain.settle()];

    const { samples, rateHz } = await decoded(joinBytes(heard));
    expect(toneShare(samples.slice(rateHz * 0.9, rateHz * 0.98), rateHz, 1_000)).toBeGreaterThan(0.97);

    heard.push(...push(chain, tone(400, 1_000, 24_000), 24_000), chain.finish());
    const all = await decoded(joinBytes(heard));
    const tail = all.samples.slice(all.samples.length - rateHz * 0.7, all.samples.length - rateHz * 0.2);
    expect(toneShare(tail, rateHz, 400)).toBeGreaterThan(0.97);
    expect((all.samples.length * 1000) / rateHz - 2_000).toBeLessThan(250);
  },
);

test.each(FORMATS)(
  '%s: settling twice, and before anything was said, brings nothing',
  async (_name, format) => {
    const chain = await openChain(format);

    expect(chain.settle()).toHaveLength(0);
    push(chain, tone(1_000, 200, 24_000), 24_000);
    chain.settle();
    expect(chain.settle()).toHaveLength(0);
    chain.finish();
  },
);

test.each(FORMATS)('%s: a change of rate between two sentences is not heard', async (_name, format) => {
  const chain = await openChain(format);

  const parts = [
    ...push(chain, tone(1_000, 500, 16_000), 16_000),
    ...push(chain, tone(1_000, 500, 22_050), 22_050),
    ...push(chain, tone(1_000, 500, format.sampleRateHz), format.sampleRateHz),
    chain.finish(),
  ];

  const { samples, rateHz } = await decoded(joinBytes(parts));
  expect(Math.abs((samples.length * 1000) / rateHz - 1_500)).toBeLessThan(format.codec === 'mp3' ? 80 : 2);
});

test('PCM is nothing but samples, little-endian', async () => {
  const chain = await openChain({ codec: 'pcm', sampleRateHz: 24_000 });

  const bytes = chain.push(Int16Array.of(1, -2, 0x1234), 24_000);

  expect([...bytes, ...chain.finish()]).toEqual([1, 0, 0xfe, 0xff, 0x34, 0x12]);
});

test('an MP3 encoder that is done is used again, and knows nothing of the stream before', async () => {
  const format: AudioFormat = { codec: 'mp3', sampleRateHz: 44_100, bitrateKbps: 128 };
  const encode = async () => {
    const chain = await openChain(format);
    return joinBytes([...push(chain, tone(1_000, 1_000, 44_100), 44_100), chain.finish()]);
  };

  const [first, second] = [await encode(), await encode()];

  expect(Buffer.compare(first, second)).toBe(0);
});
