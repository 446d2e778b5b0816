// SPDX-License-Identifier: GPL-3.0-or-later
//
// This file is a program of its own and, unlike the rest of the project, under the GNU General Public License,
// version 3 or later, because it links espeak-ng, which is. The media worker starts it as a separate process and
// speaks to it over standard input and output only; nothing else may import it.

import load, { type EspeakEvent, type EspeakWorker } from '@echogarden/espeak-ng-emscripten';
import type { EspeakAnswer, EspeakJob, TextMoment } from './espeak-protocol.ts';
import { encodeFrame, FrameReader } from './frames.ts';

const SAMPLE_RATE_HZ = 22_050;
const TIMED_EVENTS = new Set(['word', 'sentence', 'end']);

const { eSpeakNGWorker: Espeak } = await load();
const espeak = await new Espeak();
const reader = new FrameReader();

// The end of standard input is the end of the worker that started this process.
process.stdin.on('end', () => process.exit(0));
process.stdin.on('data', (chunk) => {
  for (const frame of reader.push(chunk)) answer(frame.json as EspeakJob);
});
process.stdout.on('error', () => process.exit(0));
send({ type: 'ready' });

function answer(job: EspeakJob): void {
  try {
    const { samples, moments } = speak(espeak, job);
    send({ type: 'speech', sampleRateHz: SAMPLE_RATE_HZ, moments }, samples);
  } catch (error) {
    send({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
}

function speak(worker: EspeakWorker, job: EspeakJob): { samples: Uint8Array; moments: TextMoment[] } {
  const chunks: Buffer[] = [];
  const moments: TextMoment[] = [];
  worker.set_voice(job.voice);
  worker.set_rate(job.wordsPerMinute);
  worker.synthesize(job.text, (samples, events: EspeakEvent[]) => {
    if (samples && samples.length > 0)
      chunks.push(
        Buffer.from(samples.buffer.slice(samples.byteOffset, samples.byteOffset + samples.byteLength)),
      );
    for (const event of events) {
      if (TIMED_EVENTS.has(event.type))
        moments.push({ position: event.text_position - 1, atMs: event.audio_position });
    }
    return false;
  });
  return { samples: Buffer.concat(chunks), moments };
}

function send(message: EspeakAnswer, bytes?: Uint8Array): void {
  process.stdout.write(encodeFrame(message, bytes));
}
