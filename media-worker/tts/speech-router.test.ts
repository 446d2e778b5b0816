import { expect, test } from 'vitest';
import { DEFAULT_VOICE_ID, findBuiltinVoice } from '../../shared/builtin-voices.ts';
import { Failure } from '../../shared/errors.ts';
import { silentLogger } from '../../shared/log.ts';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { FakeTts } from '../../test/fakes/fake-tts.ts';
import { SpeechRouter } from './speech-router.ts';
import type { SpeechRequest } from './tts-engine.ts';

const DOWN = new Failure('upstream_failed', 'down');

function setUp({ hasService = false } = {}) {
  const clock = new FakeClock();
  const flite = new FakeTts({ clock });
  const espeak = new FakeTts({ clock, languages: ['en', 'de', 'ja', 'zh', 'ko'] });
  const service = hasService ? new FakeTts({ clock, languages: ['en', 'de'] }) : null;
  const router = new SpeechRouter({ builtin: { flite, espeak }, service, clock, log: silentLogger });
  async function say(change: Partial<SpeechRequest> = {}) {
    const request = { text: 'Hello there.', voice: null, language: 'en', speed: 1, ...change };
    let words = 0;
    for await (const chunk of router.synthesize(request, new AbortController().signal))
      if (chunk.type === 'words') words += chunk.words.length;
    return words;
  }
  return { clock, router, flite, espeak, service, say };
}

test('English is spoken by Flite, other languages by espeak-ng', async () => {
  const { flite, espeak, say } = setUp();

  await say();
  await say({ language: 'de' });

  expect(flite.requests.map((request) => request.voice)).toEqual(['slt']);
  expect(espeak.requests.map((request) => request.voice)).toEqual(['de']);
});

test("a catalogue id becomes the engine's own voice", async () => {
  const { flite, say } = setUp();

  await say({ voice: 'cc52365babcd24797e296bfecb63ec05' });
  await say({ voice: DEFAULT_VOICE_ID });

  expect(flite.requests.map((request) => request.voice)).toEqual(['rms', 'slt']);
});

test('a voice of another language, or an unknown one, gives way to the language', async () => {
  const { flite, espeak, say } = setUp();

  await say({ voice: DEFAULT_VOICE_ID, language: 'de' });
  await say({ voice: 'no such voice' });

  expect(espeak.requests[0]?.voice).toBe('de');
  expect(flite.requests[0]?.voice).toBe('slt');
});

test.each([
  ['你好，世界', 'zh'],
  ['こんにちは、世界', 'ja'],
  ['안녕하세요', 'ko'],
])('%s in an English call is read by a voice that can', async (text, language) => {
  const { flite, espeak, say } = setUp();

  await say({ text });

  expect(flite.requests).toEqual([]);
  expect(espeak.requests[0]?.language).toBe(language);
});

test('a language without a voice is refused', async () => {
  await expect(setUp().say({ language: 'xx' })).rejects.toMatchObject({ kind: 'unprocessable' });
});

test('a configured service is asked first, and with ids of the catalogue for its own default voice', async () => {
  const { flite, service, say } = setUp({ hasService: true });

  await say({ voice: DEFAULT_VOICE_ID });
  await say({ voice: 'nova' });

  expect(findBuiltinVoice(DEFAULT_VOICE_ID)).not.toBeNull();
  expect(service?.requests.map((request) => request.voice)).toEqual([null, 'nova']);
  expect(flite.requests).toEqual([]);
});

test('a sentence that the service fails is spoken whole by the built-in voice', async () => {
  const { flite, service, say } = setUp({ hasService: true });
  if (service) service.failNext = DOWN;

  expect(await say()).toBe(2);
  expect(flite.requests).toHaveLength(1);
});

test('after three failures in a row the service is left alone for 30 s', async () => {
  const { clock, service, say } = setUp({ hasService: true });
  for (let i = 0; i < 3; i++) {
    if (service) service.failNext = DOWN;
    await say();
  }

  await say();
  const askedWhileOpen = service?.requests.length;
  await clock.advance(30_000);
  await say();

  expect(askedWhileOpen).toBe(3);
  expect(service?.requests).toHaveLength(4);
});

test('a success in between makes the next failure the first again', async () => {
  const { service, say } = setUp({ hasService: true });
  for (const fails of [true, true, false, true, true, false]) {
    if (service) service.failNext = fails ? DOWN : null;
    await say();
  }

  expect(service?.requests).toHaveLength(6);
});

test('a language that only the service speaks keeps its failure', async () => {
  const clock = new FakeClock();
  const service = new FakeTts({ clock, languages: ['fr'] });
  const none = new FakeTts({ clock, languages: [] });
  const router = new SpeechRouter({
    builtin: { flite: none, espeak: none },
    service,
    clock,
    log: silentLogger,
  });
  service.failNext = DOWN;

  const speaking = async () => {
    const request = { text: 'Bonjour', voice: null, language: 'fr', speed: 1 };
    for await (const _ of router.synthesize(request, new AbortController().signal));
  };

  await expect(speaking()).rejects.toBe(DOWN);
});

test('closing closes every engine; warming up leaves espeak-ng for the calls that need it', async () => {
  const { router, flite, espeak, service } = setUp({ hasService: true });

  await router.prewarm();
  const warmed = [flite.prewarms, espeak.prewarms, service?.prewarms];
  await router.prewarm('de');
  await router.close();

  expect(warmed).toEqual([1, 0, 1]);
  expect(espeak.prewarms).toBe(1);
  expect([flite, espeak, service].map((engine) => engine?.isClosed)).toEqual([true, true, true]);
});
