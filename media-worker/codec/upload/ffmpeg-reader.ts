import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DecodedAudio, UndecodableAudio } from './decoded-audio.ts';

const RATE_HZ = 16_000;
/** Named outright: a file can't pass itself off as a playlist that names others. */
const DEMUXERS = { mp4: 'mov', adts: 'aac' } as const;
const START_DEADLINE_MS = 60_000;

export interface FfmpegOptions {
  /** Path or name of the program. */
  readonly ffmpeg: string;
  /** Longer audio is cut here; whoever counts finds it too long. */
  readonly maxSeconds: number;
}

/**
 * AAC through the operator's own ffmpeg, since no decoder that may be shipped knows AAC. Without it an
 * `UndecodableAudio` says so.
 */
export async function* readWithFfmpeg(
  file: Uint8Array,
  container: keyof typeof DEMUXERS,
  { ffmpeg, maxSeconds }: FfmpegOptions,
): AsyncGenerator<DecodedAudio> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-upload-'));
  try {
    const path = join(dir, 'audio');
    await writeFile(path, file, { mode: 0o600 });
    yield* run(ffmpeg, [
      ...['-nostdin', '-v', 'error', '-threads', '1', '-protocol_whitelist', 'file,pipe'],
      ...['-f', DEMUXERS[container], '-i', path, '-map', '0:a:0', '-t', String(maxSeconds + 1)],
      ...['-f', 's16le', '-ac', '1', '-ar', String(RATE_HZ), 'pipe:1'],
    ]);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function* run(ffmpeg: string, args: readonly string[]): AsyncGenerator<DecodedAudio> {
  const child = spawn(ffmpeg, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  });
  const ended = once(child, 'close').then(
    ([code]) => code as number | null,
    (cause: unknown) => {
      throw new UndecodableAudio(
        'unknown_format',
        'This format needs ffmpeg, which is not installed here',
        cause,
      );
    },
  );
  ended.catch(() => {});
  const guard = setTimeout(() => child.kill('SIGKILL'), START_DEADLINE_MS);
  let odd = Buffer.alloc(0);
  let decoded = 0;
  try {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      guard.refresh();
      const bytes = Buffer.concat([odd, chunk]);
      const count = bytes.length >> 1;
      odd = bytes.subarray(count * 2);
      decoded += count;
      const samples = Float32Array.from({ length: count }, (_, i) => bytes.readInt16LE(i * 2) / 32_768);
      yield { channels: [samples], sampleRateHz: RATE_HZ };
    }
    const code = await ended;
    if (decoded === 0)
      throw new UndecodableAudio('broken', 'The audio can not be decoded', `ffmpeg ended with ${code}`);
  } finally {
    clearTimeout(guard);
    child.kill('SIGKILL');
  }
}
