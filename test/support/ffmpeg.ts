import { spawn } from 'node:child_process';

const DEADLINE_MS = 30_000;

/** Runs ffmpeg on `input` and gives what it writes to its output. Throws with its own words when it fails. */
export async function ffmpeg(input: Uint8Array, args: readonly string[]): Promise<Buffer> {
  const child = spawn('ffmpeg', ['-v', 'error', ...args], { timeout: DEADLINE_MS });
  const parts: Buffer[] = [];
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => parts.push(chunk));
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  // It may stop reading before the end.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  );
  if (code !== 0) throw new Error(`ffmpeg ended with ${code}: ${errors}`);
  return Buffer.concat(parts);
}

/** Whatever ffmpeg hears in `audio`, mono at `rateHz`. */
export async function heardByFfmpeg(
  audio: Uint8Array,
  rateHz: number,
  input: readonly string[] = [],
): Promise<Int16Array> {
  const args = [...input, '-i', 'pipe:0', '-f', 's16le', '-ac', '1', '-ar', String(rateHz), 'pipe:1'];
  const bytes = Uint8Array.from(await ffmpeg(audio, args));
  return new Int16Array(bytes.buffer, 0, bytes.length >> 1);
}
