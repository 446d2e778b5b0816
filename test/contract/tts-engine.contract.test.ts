import { EspeakEngine } from '../../media-worker/tts/engines/espeak/espeak-engine.ts';
import { FliteEngine } from '../../media-worker/tts/engines/flite/flite-engine.ts';
import { OpenAiTts } from '../../media-worker/tts/engines/openai/openai-tts.ts';
import { SpeechRouter } from '../../media-worker/tts/speech-router.ts';
import { silentLogger } from '../../shared/log.ts';
import { createOutgoingClient } from '../../shared/outgoing/outgoing-client.ts';
import { resolveWithSystem } from '../../shared/outgoing/system-resolver.ts';
import { systemClock } from '../../shared/time.ts';
import { FakeTts } from '../fakes/fake-tts.ts';
import { OpenAiStub, pcm, type StubRequest } from '../support/openai-stub.ts';
import { tone } from '../support/pitch.ts';
import { ttsEngineContract } from './tts-engine.contract.ts';

const deps = { clock: systemClock, log: silentLogger };
const ENGLISH = ' Doctor  Miller has 42 patients,\nand all of them are well. ';

ttsEngineContract('the fake', async () => ({
  engine: new FakeTts({ clock: systemClock, delayMs: 20 }),
  language: 'en',
  text: ENGLISH,
}));

ttsEngineContract('Flite', async () => ({ engine: new FliteEngine(deps), language: 'en', text: ENGLISH }));

ttsEngineContract('espeak-ng in German', async () => ({
  engine: new EspeakEngine(deps),
  language: 'de',
  text: ' Guten Tag,  das kostet 42 Euro\nund 50 Cent. ',
}));

ttsEngineContract('espeak-ng in Japanese', async () => ({
  engine: new EspeakEngine(deps),
  language: 'ja',
  text: 'こんにちは、 おげんきですか。',
}));

ttsEngineContract('the router', async () => ({
  engine: new SpeechRouter({
    builtin: { flite: new FliteEngine(deps), espeak: new EspeakEngine(deps) },
    service: null,
    ...deps,
  }),
  language: 'en',
  text: ENGLISH,
}));

ttsEngineContract('an OpenAI-compatible service', async () => {
  const stub = new OpenAiStub();
  const baseUrl = await stub.start();
  stub.willAnswer((request) => ({ steps: spokenSlowly(request) }));
  const http = createOutgoingClient({ resolve: resolveWithSystem, allowHosts: [stub.host] });
  const settings = { baseUrl, apiKey: 'key', model: 'tts-1', voice: 'alloy' };
  return {
    engine: new OpenAiTts({ http, clock: systemClock }, settings),
    language: 'en',
    text: ENGLISH,
    dispose: async () => {
      await http.close();
      await stub.stop();
    },
  };
});

/** 250 ms of tone a word, in pieces that end in the middle of a sample. */
function spokenSlowly({ body }: StubRequest) {
  const words = String(body['input']).trim().split(/\s+/).length;
  const speed = typeof body['speed'] === 'number' ? body['speed'] : 1;
  const bytes = pcm(tone(1_000, (words * 250) / speed, 24_000));
  const pieces: (Uint8Array | { waitMs: number })[] = [];
  for (let at = 0; at < bytes.length; at += 9_999) pieces.push(bytes.slice(at, at + 9_999), { waitMs: 2 });
  return pieces;
}
