import { expect, test } from 'vitest';
import { FakeClock } from '../../test/fakes/fake-clock.ts';
import { FakeTts } from '../../test/fakes/fake-tts.ts';
import type { SpeechChunk, SpeechRequest } from '../tts/tts-engine.ts';
import { PhraseCache } from './phrase-cache.ts';

const REQUEST: SpeechRequest = { text: 'Hello there.', voice: null, language: 'en', speed: 1 };

function setUp(maxBytes = 1_000_000) {
  const engine = new FakeTts({ clock: new FakeClock() });
  const cache = new PhraseCache({ maxBytes, maxCharacters: 40 });
  const say = async (
    request: Partial<SpeechRequest> = {},
    model = 'm',
    signal = new AbortController().signal,
  ) => {
    const chunks: SpeechChunk[] = [];
    for await (const chunk of cache.of(engine, model).synthesize({ ...REQUEST, ...request }, signal))
      chunks.push(chunk);
    return chunks;
  };
  return { engine, cache, say };
}

test('a phrase is asked of the engine once and sounds the same ever after', async () => {
  const { engine, cache, say } = setUp();

  const [first, second] = [await say(), await say()];

  expect(second).toEqual(first);
  expect(engine.requests).toHaveLength(1);
  expect(cache.figures).toMatchObject({ hits: 1, misses: 1 });
});

test.each<[string, Partial<SpeechRequest>, string]>([
  ['voice', { voice: 'other' }, 'm'],
  ['language', { language: 'en', text: 'Hello there!' }, 'm'],
  ['pace', { speed: 1.5 }, 'm'],
  ['model', {}, 'other'],
])('another %s is another phrase', async (_what, request, model) => {
  const { engine, say } = setUp();
  await say();

  await say(request, model);

  expect(engine.requests).toHaveLength(2);
});

test('whoever takes the audio may keep and change it', async () => {
  const { say } = setUp();
  for (const chunk of await say()) if (chunk.type === 'audio') chunk.samples.fill(0);

  const again = await say();

  expect(again.some((chunk) => chunk.type === 'audio' && chunk.samples.some((sample) => sample !== 0))).toBe(
    true,
  );
});

test('a phrase that was broken off is not kept, nor one that is long', async () => {
  const { engine, say } = setUp();
  const stop = new AbortController();
  stop.abort();

  await say({}, 'm', stop.signal);
  await say();
  await say({ text: 'This sentence has more than forty characters.' });
  await say({ text: 'This sentence has more than forty characters.' });

  expect(engine.requests).toHaveLength(4);
});

test('memory is bounded: what was not asked for longest goes first', async () => {
  const { engine, cache, say } = setUp(60_000);
  for (const text of ['One two.', 'Three four.', 'Five six.', 'Seven eight.']) await say({ text });
  await say({ text: 'One two.' });

  await say({ text: 'Nine ten.' });
  await say({ text: 'One two.' });

  expect(cache.figures.bytes).toBeLessThanOrEqual(60_000);
  expect(engine.requests.filter((request) => request.text === 'One two.').length).toBeLessThanOrEqual(2);
});

test('a size of 0 keeps nothing', async () => {
  const { engine, say } = setUp(0);

  await say();
  await say();

  expect(engine.requests).toHaveLength(2);
});
