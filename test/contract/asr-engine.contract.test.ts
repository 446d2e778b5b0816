import { OpenAiAsr } from '../../media-worker/asr/engines/openai-asr.ts';
import { PocketSphinxEngine } from '../../media-worker/asr/engines/pocketsphinx/pocketsphinx-engine.ts';
import { silentLogger } from '../../shared/log.ts';
import { createOutgoingClient } from '../../shared/outgoing/outgoing-client.ts';
import { resolveWithSystem } from '../../shared/outgoing/system-resolver.ts';
import { systemClock } from '../../shared/time.ts';
import { FakeAsr, hearsByPitch, hearsInTurn } from '../fakes/fake-asr.ts';
import { asrPython } from '../support/asr-environment.ts';
import { OpenAiAsrStub, type TranscriptionAnswer } from '../support/openai-asr-stub.ts';
import { tone } from '../support/pitch.ts';
import { SPEECH_TEXTS, speechSample } from '../support/speech-samples.ts';
import { type AsrSubject, asrEngineContract, type Said } from './asr-engine.contract.ts';

const TONES: readonly [Said, Said] = [
  { samples: tone(400, 1_500, 16_000), text: 'when does the next train leave' },
  { samples: tone(1_000, 1_000, 16_000), text: 'yes that sounds fine' },
];
const hearsTones = hearsByPitch({ 400: TONES[0].text, 1000: TONES[1].text });

asrEngineContract('the fake', {
  hears: async () => ({
    engine: new FakeAsr(systemClock, { hear: hearsTones, partialEveryMs: 200 }),
  }),
  said: TONES,
  tolerance: 0,
  fails: async () => ({ engine: new FakeAsr(systemClock, { hear: hearsInTurn(null) }) }),
  roomForOne: async () => ({
    engine: new FakeAsr(systemClock, { hear: hearsTones, maxSessions: 1 }),
  }),
});

for (const streams of [false, true]) {
  asrEngineContract(`an OpenAI-compatible service${streams ? ', streaming' : ''}`, {
    hears: () =>
      openAiSubject(streams, (samples) => {
        const text = hearsTones(samples, 16_000, 0) ?? '';
        if (!streams) return { status: 200, json: { text } };
        return {
          events: [
            { type: 'transcript.text.delta', delta: text.slice(0, 5) },
            { type: 'transcript.text.done', text },
          ],
        };
      }),
    said: TONES,
    tolerance: 0,
    fails: () => openAiSubject(streams, () => ({ status: 500, json: { error: 'broken' } })),
    roomForOne: null,
  });
}

asrEngineContract('PocketSphinx', {
  hears: () => pocketSphinxSubject(2),
  said: [
    { samples: speechSample('rms'), text: SPEECH_TEXTS.rms },
    { samples: speechSample('kal'), text: SPEECH_TEXTS.kal },
  ],
  tolerance: 0.34,
  fails: null,
  roomForOne: () => pocketSphinxSubject(1),
});

async function openAiSubject(
  streams: boolean,
  hear: (samples: Int16Array) => TranscriptionAnswer,
): Promise<AsrSubject> {
  const stub = new OpenAiAsrStub();
  stub.answer = ({ samples }) => hear(samples);
  const baseUrl = await stub.start();
  const http = createOutgoingClient({ resolve: resolveWithSystem, allowHosts: [stub.host] });
  return {
    engine: new OpenAiAsr({ http }, { baseUrl, apiKey: null, model: 'whisper-1', streams }),
    dispose: async () => {
      await http.close();
      await stub.stop();
    },
  };
}

async function pocketSphinxSubject(maxSessions: number): Promise<AsrSubject> {
  const pythonPath = await asrPython();
  return {
    engine: new PocketSphinxEngine({ clock: systemClock, log: silentLogger, pythonPath, maxSessions }),
  };
}
