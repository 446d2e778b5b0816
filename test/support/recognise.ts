import { PocketSphinxEngine } from '../../media-worker/asr/engines/pocketsphinx/pocketsphinx-engine.ts';
import { FrameQueue } from '../../media-worker/asr/frame-queue.ts';
import { RateFollower } from '../../media-worker/codec/rate-follower.ts';
import { loadResampler } from '../../media-worker/codec/resample.ts';
import { createSileroVad } from '../../media-worker/vad/engines/silero/silero-vad.ts';
import { VadStage } from '../../media-worker/vad/vad-stage.ts';
import { silentLogger } from '../../shared/log.ts';
import { systemClock } from '../../shared/time.ts';
import { asrPython } from './asr-environment.ts';
import { joined, silence } from './speech-samples.ts';

/** What a listener makes of a recording: its words, utterance by utterance, joined by spaces. */
export async function recognise(recording: Int16Array, rateHz: number): Promise<string> {
  // Silence at the end, so that the last utterance ends.
  const samples = joined(recording, silence(1_000, rateHz));
  const recogniser = new PocketSphinxEngine({
    pythonPath: await asrPython(),
    maxSessions: 1,
    clock: systemClock,
    log: silentLogger,
  });
  const session = await recogniser.open({ language: 'en', keyterms: [] });
  const frames = new RateFollower(await loadResampler()).push(samples, rateHz);
  const vad = new VadStage(await createSileroVad(), { hangoverMs: 400 });
  const texts: string[] = [];
  let startMs: number | null = null;
  for (const frame of frames) {
    for (const { boundary } of vad.push(frame)) {
      if (boundary?.type === 'started') startMs = boundary.audioFromMs;
      if (boundary?.type !== 'ended' || startMs === null) continue;
      const queue = new FrameQueue();
      for (const each of frames)
        if (each.startMs >= startMs && each.startMs < boundary.atMs) queue.push(each);
      queue.end();
      for await (const heard of session.transcribe(queue, AbortSignal.timeout(30_000)))
        if (heard.isFinal) texts.push(heard.text);
      startMs = null;
    }
  }
  vad.close();
  await session.close();
  await recogniser.close();
  return texts.join(' ');
}
