import { spawn } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectFile } from '../../shared/project-file.ts';
import { npmFolder } from '../support/npm-folder.ts';
import { type Parley, startParley } from '../support/parley.ts';
import { pythonWithPackages } from '../support/python-packages.ts';
import { SPEECH_TEXTS } from '../support/speech-samples.ts';
import { wordErrors } from '../support/word-errors.ts';

const PYTHON_CLIENTS = ['fish-audio-sdk==1.3.0', 'livekit-plugins-fishaudio==1.8.9'];
const NODE_CLIENTS = ['fish-audio@0.1.0', '@livekit/agents-plugin-fishaudio@1.5.5', '@livekit/agents@1.5.5'];
const RUN_DEADLINE_MS = 120_000;
const RECORDING = 'test/fixtures/speech/rms.wav';

interface Step {
  readonly step: string;
  readonly bytes?: number;
  readonly head?: string;
  readonly chunks?: number;
  readonly seconds?: number;
  readonly text?: string;
  readonly duration?: number;
  readonly credit?: string;
  readonly message?: string;
  readonly name?: string;
  readonly loc?: string[];
}

let parley: Parley;
beforeAll(async () => {
  parley = await startParley();
}, 240_000);
afterAll(() => parley.stop());

/** What a client program told, by step. Fails with what it wrote to standard error when it did not end well. */
async function run(command: string, args: readonly string[]): Promise<Map<string, Step>> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_DEADLINE_MS });
  const steps = new Map<string, Step>();
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    const step = JSON.parse(line) as Step;
    steps.set(step.step, step);
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${errors.slice(-2_000)}`);
  return steps;
}

/** Share of the recording's words that were not understood. */
function missed(step: Step | undefined): number {
  const { errors, words } = wordErrors(SPEECH_TEXTS.rms, step?.text ?? '');
  return errors / words;
}

const headOf = (step: Step | undefined) => Buffer.from(step?.head ?? '', 'base64').toString('latin1');

test('the Python clients speak, stream, listen and are refused as they expect', async () => {
  const python = await pythonWithPackages('speech-clients-python', PYTHON_CLIENTS);

  const steps = await run(python, [
    projectFile('test/conformance/speech_clients.py'),
    parley.baseUrl,
    parley.apiKey,
    projectFile(RECORDING),
  ]);

  expect(headOf(steps.get('convert'))).toMatch(/^\u00ff[\u00fa\u00fb]/);
  expect(headOf(steps.get('convert mp3'))).toMatch(/^\u00ff[\u00fa\u00fb]/);
  expect(headOf(steps.get('convert wav'))).toMatch(/^RIFF/);
  expect(headOf(steps.get('convert opus'))).toMatch(/^OggS/);
  const seconds = (steps.get('convert pcm')?.bytes ?? 0) / 2 / 44_100;
  expect(seconds).toBeGreaterThan(0.8);
  expect(seconds).toBeLessThan(3);
  for (const step of ['stream', 'async convert', 'async stream_websocket', 'legacy tts'])
    expect(steps.get(step)?.bytes, step).toBeGreaterThan(10_000);
  expect(steps.get('stream_websocket')?.bytes).toBeGreaterThan(24_000 * 2 * 1.5);
  expect(steps.get('stream_websocket long')?.bytes).toBeGreaterThan(24_000 * 2 * 300);
  expect(steps.get('legacy socket')?.bytes).toBeGreaterThan(30_000);
  for (const step of ['transcribe', 'legacy asr']) {
    expect(missed(steps.get(step)), step).toBeLessThan(0.35);
    expect(steps.get(step)?.duration, step).toBeCloseTo(2.805, 2);
  }
  expect(Number(steps.get('get_credits')?.credit)).toBeLessThan(100);
  expect(steps.get('wrong key')?.message).toContain('Invalid token');
  for (const format of ['wav', 'pcm', 'mp3', 'opus']) {
    expect(steps.get(`plugin synthesize ${format}`)?.seconds, format).toBeGreaterThan(1);
    const turns = [1, 2].map((turn) => steps.get(`plugin stream ${format} ${turn}`)?.seconds ?? 0);
    expect(Math.min(...turns), format).toBeGreaterThan(3);
    expect(Math.max(...turns), format).toBeLessThan(6);
  }
}, 600_000);

test('the JavaScript clients do the same', async () => {
  const folder = await npmFolder('speech-clients-node', NODE_CLIENTS);
  // Imports are looked up from where a file lies.
  const program = join(folder, 'speech-clients.mjs');
  await copyFile(projectFile('test/conformance/speech-clients.mjs'), program);

  const steps = await run(process.execPath, [program, parley.baseUrl, parley.apiKey, projectFile(RECORDING)]);

  expect(steps.get('convert')?.bytes).toBeGreaterThan(10_000);
  expect(steps.get('realtime')?.bytes).toBeGreaterThan(24_000 * 2);
  expect(missed(steps.get('transcribe'))).toBeLessThan(0.35);
  expect(steps.get('invalid')).toMatchObject({ name: 'UnprocessableEntityError', loc: ['body', 'text'] });
  expect(Number(steps.get('credit')?.credit)).toBeLessThan(100);
  for (const turn of [1, 2]) expect(steps.get(`plugin stream ${turn}`)?.seconds).toBeGreaterThan(3);
}, 600_000);
