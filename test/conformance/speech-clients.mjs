// Runs the published JavaScript clients of this speech API against a server. Prints one JSON object per step.
// Lies, when it runs, in a folder with them installed. Usage: speech-clients.mjs <base url> <api key> <wav file>
import { readFileSync } from 'node:fs';

const [baseUrl = '', apiKey = '', wavPath = ''] = process.argv.slice(2);
const tell = (step, fields) => process.stdout.write(`${JSON.stringify({ step, ...fields })}\n`);

async function sizeOf(stream) {
  let size = 0;
  for await (const chunk of stream) size += chunk.length;
  return size;
}

async function restClient() {
  const { FishAudioClient, RealtimeEvents } = await import('fish-audio');
  const client = new FishAudioClient({ apiKey, baseUrl });
  const audio = await client.textToSpeech.convert({ text: 'Hello there.', reference_id: undefined });
  tell('convert', { bytes: await sizeOf(audio) });

  async function* words() {
    yield 'Hello from ';
    yield 'the socket. ';
    yield 'And more.';
  }
  const request = { text: '', format: 'pcm', sample_rate: 24000 };
  const socket = await client.textToSpeech.convertRealtime(request, words());
  let bytes = 0;
  await new Promise((resolve, reject) => {
    socket.on(RealtimeEvents.AUDIO_CHUNK, (chunk) => {
      bytes += chunk.length;
    });
    socket.on(RealtimeEvents.CLOSE, resolve);
    socket.on(RealtimeEvents.ERROR, reject);
  });
  tell('realtime', { bytes });

  const heard = await client.speechToText.convert({ audio: new File([readFileSync(wavPath)], 'a.wav') });
  tell('transcribe', { text: heard.text, duration: heard.duration });
  try {
    await client.textToSpeech.convert({ text: 5 });
  } catch (error) {
    tell('invalid', { name: error.constructor.name, loc: error.body[0].loc });
  }
  const credit = await client.user.get_api_credit();
  tell('credit', { credit: credit.credit });
}

async function voicePlugin() {
  const { initializeLogger } = await import('@livekit/agents');
  const { TTS } = await import('@livekit/agents-plugin-fishaudio');
  initializeLogger({ pretty: false, level: 'error' });
  const tts = new TTS({ apiKey, baseURL: baseUrl, voiceId: '0e077d25dea2782778dbf851f710b3b3' });
  for (const turn of [1, 2]) {
    const stream = tts.stream();
    stream.pushText('This is the first sentence, long enough. ');
    stream.pushText('And here comes the second one.');
    stream.flush();
    stream.endInput();
    let seconds = 0;
    for await (const event of stream) {
      if (typeof event !== 'symbol') seconds += event.frame.samplesPerChannel / event.frame.sampleRate;
    }
    stream.close();
    tell(`plugin stream ${turn}`, { seconds });
  }
}

await restClient();
await voicePlugin();
process.exit(0);
