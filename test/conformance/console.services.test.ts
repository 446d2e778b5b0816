import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, WebSocketRoute } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { CALLER_RATE_HZ, createCallerVoice } from '../support/caller-voice.ts';
import { type Parley, publishedAgent, startParley } from '../support/parley.ts';
import { joined, silence } from '../support/speech-samples.ts';
import { wordErrors } from '../support/word-errors.ts';
import { launchChromium } from './chromium.ts';
import { ConsolePage, type ConsolePageOptions } from './console-page.ts';

const QUESTIONS = [
  'Where can I leave my car, and is there any parking near the house?',
  'Do you accept cash and cards, and do you take my insurance?',
  'What can I do about pain in the night, is there an emergency number?',
];

let parley: Parley;
let browser: Browser;
let voice: Awaited<ReturnType<typeof createCallerVoice>>;

beforeAll(async () => {
  [parley, browser, voice] = await Promise.all([startParley(), launchChromium(), createCallerVoice('rms')]);
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await voice?.close();
  await parley?.stop();
});

async function open(options: ConsolePageOptions = {}, inBrowser = browser): Promise<ConsolePage> {
  const console = await ConsolePage.open(inBrowser, parley, options);
  onTestFinished(() => console.page.close());
  return console;
}

test('a person signs in, makes and publishes an agent, talks with it for three turns and reads it all afterwards', async () => {
  const console = await open({ microphone: 'scripted' });
  const { page } = console;

  await console.signIn(parley.apiKey);
  await console.createFromTemplate('front-desk', 'Larch Street');
  await console.publish();
  await page.getByRole('link', { name: 'Talk', exact: true }).click();
  await page.getByTestId('built-in-note').waitFor();
  await console.call();
  await console.agentHasSpoken(1);
  for (const [i, question] of QUESTIONS.entries()) {
    await console.speak(await voice.say(question));
    await console.agentHasSpoken(i + 2);
  }
  const live = await console.transcript();
  await console.hangUp();
  await page.getByRole('link', { name: 'Read the transcript' }).click();
  await page.getByTestId('end-reason').waitFor();

  expect(await page.getByTestId('session-status').textContent()).toBe('Completed');
  expect(await page.getByTestId('end-reason').textContent()).toBe('The caller hung up');
  const kept = await console.transcript();
  expect(kept.map((line) => line.role)).toEqual(live.map((line) => line.role));
  const ofAgent = (lines: typeof kept) => lines.filter((line) => line.role === 'agent');
  expect(ofAgent(kept)).toEqual(ofAgent(live));
  const said = kept.filter((line) => line.role === 'user').map((line) => line.text);
  const { errors, words } = wordErrors(QUESTIONS.join(' '), said.join(' '));
  expect(words).toBeGreaterThanOrEqual(30);
  expect(errors / words).toBeLessThanOrEqual(0.15);
  const answers = ofAgent(kept).map((line) => line.text);
  expect(answers).toHaveLength(4);
  expect(answers[0]).toBe('Larch Street Dental, this is Nora. How can I help you?');
  expect(answers[1]).toMatch(/parking is free/i);
  expect(answers[2]).toMatch(/insurance/);
  expect(answers[3]).toMatch(/five five five/);
  await page.getByRole('link', { name: 'Conversations' }).click();
  expect(await page.getByTestId('session-row').first().textContent()).toContain('Larch Street');
  expect(console.errors).toEqual([]);
});

test('a recording in Chromium’s own microphone is heard, shown and answered, and both levels move', async () => {
  const recording = joined(
    silence(9_000, CALLER_RATE_HZ),
    await voice.say('Do you accept cash and cards?'),
    silence(20_000, CALLER_RATE_HZ),
  );
  const speaking = await launchChromium([
    `--use-file-for-fake-audio-capture=${await wavFile(recording)}%noloop`,
  ]);
  onTestFinished(() => speaking.close());
  const agentId = await publishedAgent(parley, {
    prompt: {
      system_prompt: 'We accept cash and all cards.',
      first_message_mode: 'fixed',
      first_message: 'Hello.',
    },
  });
  const console = await open({}, speaking);
  await console.signIn(parley.apiKey);
  await console.page.getByRole('link', { name: 'New agent' }).waitFor();
  await console.page.goto(`${parley.baseUrl}/console#/agents/${agentId}/talk`);

  await console.call();
  const levels = watchLevels(console);
  await console.agentHasSpoken(2);
  const loudest = await levels();
  await console.hangUp();

  const [, question, answer] = await console.transcript();
  expect(question?.role).toBe('user');
  expect(wordErrors('do you accept cash and cards', question?.text ?? '').errors).toBeLessThanOrEqual(2);
  expect(answer).toEqual({ role: 'agent', text: 'We accept cash and all cards.' });
  expect(loudest.caller).toBeGreaterThan(0.3);
  expect(loudest.agent).toBeGreaterThan(0.3);
});

test('a refused microphone is explained, costs no session, and one can type instead', async () => {
  const console = await open({ microphone: 'refused' });
  const { page } = console;
  await console.signIn(parley.apiKey);
  await console.createFromTemplate('support-line', 'Northwind');
  await console.publish();
  await page.getByRole('link', { name: 'Talk', exact: true }).click();

  await page.getByTestId('start-call').click();
  expect(await page.getByRole('alert').filter({ hasText: 'microphone' }).textContent()).toMatch(/refused/);
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByRole('main').getByRole('link', { name: 'Conversations' }).click();
  await page.getByText('No conversations yet').waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'Talk', exact: true }).click();
  await page.getByTestId('start-call').click();
  await console.call('start-typing');
  await console.agentHasSpoken(1);
  await page.getByTestId('message-input').fill('How much is the basic plan?');
  await page.getByTestId('send').click();
  await console.agentHasSpoken(2);

  expect(await console.transcript()).toEqual([
    { role: 'agent', text: 'Northwind support, Sam speaking. What can I fix for you?' },
    { role: 'user', text: 'How much is the basic plan?' },
    { role: 'agent', text: 'The basic plan costs thirty dollars a month.' },
  ]);
  await console.hangUp();
});

test('when the agent hangs up, the page says so', async () => {
  const console = await open({ microphone: 'scripted' });
  await console.signIn(parley.apiKey);
  await console.createFromTemplate('front-desk', 'Says goodbye');
  await console.page.getByRole('link', { name: 'Talk', exact: true }).click();

  await console.call();
  await console.agentHasSpoken(1);
  await console.page.getByTestId('message-input').fill('Thank you, goodbye!');
  await console.page.getByTestId('send').click();

  const ended = console.page.getByTestId('call-ended');
  await ended.waitFor({ timeout: 30_000 });
  expect(await ended.textContent()).toContain('The agent hung up.');
});

test('a signalling connection that breaks is shown as reconnecting, and the call goes on', async () => {
  const console = await open({ microphone: 'scripted' });
  const { page } = console;
  const sockets: WebSocketRoute[] = [];
  let isClosed = false;
  await page.routeWebSocket(/\/rtc\?/, async (socket) => {
    if (isClosed) await page.waitForTimeout(1_000);
    socket.connectToServer();
    sockets.push(socket);
  });
  await console.signIn(parley.apiKey);
  await console.createFromTemplate('front-desk', 'Reconnects');
  await page.getByRole('link', { name: 'Talk', exact: true }).click();
  await console.call();
  await console.agentHasSpoken(1);

  isClosed = true;
  await sockets.at(-1)?.close({ code: 1011, reason: 'broken' });

  await page.getByTestId('call-state').filter({ hasText: 'Reconnecting' }).waitFor();
  await page.getByTestId('call-state').filter({ hasText: 'Listening' }).waitFor();
  await page.getByTestId('message-input').fill('How much does a cleaning cost?');
  await page.getByTestId('send').click();
  await console.agentHasSpoken(2);
  expect((await console.transcript()).at(-1)?.text).toMatch(/eighty/);
  expect(sockets.length).toBeGreaterThanOrEqual(2);
});

test('a page that is not secure says that the microphone needs it, and how to get there', async () => {
  const elsewhere = await launchChromium(['--host-resolver-rules=MAP parley.test 127.0.0.1']);
  onTestFinished(() => elsewhere.close());
  const baseUrl = `http://parley.test:${new URL(parley.baseUrl).port}`;
  const console = await open({ baseUrl }, elsewhere);
  await console.signIn(parley.apiKey);
  await console.createFromTemplate('front-desk', 'Not secure');
  await console.page.getByRole('link', { name: 'Talk', exact: true }).click();

  await console.page.getByTestId('start-call').click();

  const words = await console.page.getByRole('alert').filter({ hasText: 'microphone' }).textContent();
  expect(words).toMatch(/https.*localhost.*PARLEY_PUBLIC_URL/);
  expect(await console.page.getByTestId('start-typing').isVisible()).toBe(true);
});

test('changes that are not saved are shown and not lost by a click, and a refused field is named in its place', async () => {
  const console = await open();
  const { page } = console;
  const questions: string[] = [];
  page.on('dialog', (dialog) => {
    questions.push(dialog.message());
    void dialog.dismiss();
  });
  await console.signIn(parley.apiKey);
  await console.createFromTemplate('restaurant-bookings', 'Lantern');
  const state = page.getByTestId('save-state');
  await expect.poll(() => state.textContent()).toBe('Draft saved, never published');

  await page.getByLabel('Prompt', { exact: true }).fill('x'.repeat(4001));
  await expect.poll(() => state.textContent()).toBe('Unsaved changes');
  await page.getByRole('link', { name: 'Conversations' }).first().click();
  await expect.poll(() => questions).toEqual(['Leave without saving your changes?']);
  expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).toHaveLength(4001);
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('This should have at most 4000 characters.').waitFor();
  expect(await page.getByLabel('Prompt', { exact: true }).getAttribute('aria-invalid')).toBe('true');

  await page.getByLabel('Prompt', { exact: true }).fill('You are {{guest}}’s host.');
  await page.getByLabel('When the call begins').selectOption('off');
  await page.getByLabel('Language').selectOption('de');
  await page.getByRole('button', { name: 'Save and publish' }).click();
  await page.getByText('Version 1 is live').waitFor();
  await page.reload();
  await state.waitFor();
  await expect.poll(() => page.getByLabel('When the call begins').inputValue()).toBe('off');
  expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).toBe('You are {{guest}}’s host.');
  expect(await page.getByLabel('Voice', { exact: true }).locator('option:checked').textContent()).toMatch(
    /German/,
  );
});

test('a wrong key is refused in words; a right one stays in this tab alone and is gone after signing out', async () => {
  const console = await open();
  const { page } = console;

  await console.signIn('pk_wrong');
  await page.getByText('This API key is not valid.').waitFor();
  await console.signIn(parley.apiKey);
  await page.getByRole('heading', { name: 'Agents' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Agents' }).waitFor();

  expect(await page.evaluate('JSON.stringify(localStorage)')).toBe('{}');
  expect(await page.context().cookies()).toEqual([]);
  expect(page.url()).not.toContain(parley.apiKey);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').waitFor();
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}');
});

/** Follows both level meters until the returned function is called; it answers the highest of each. */
function watchLevels(console: ConsolePage): () => Promise<{ caller: number; agent: number }> {
  const loudest = [0, 0];
  let isWatching = true;
  const watching = (async () => {
    while (isWatching) {
      const now = await console.page.evaluate<number[]>(
        "[...document.querySelectorAll('.meter')].map((meter) => Number(meter.dataset.level))",
      );
      for (const [i, level] of now.entries()) loudest[i] = Math.max(loudest[i] ?? 0, level);
      await console.page.waitForTimeout(100);
    }
  })();
  return async () => {
    isWatching = false;
    await watching;
    return { caller: loudest[0] ?? 0, agent: loudest[1] ?? 0 };
  };
}

/** A WAV file of 48 kHz mono PCM (RIFF, 16 bit); removed after the test. */
async function wavFile(samples: Int16Array): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-microphone-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'microphone.wav');
  const head = Buffer.alloc(44);
  const bytes = samples.length * 2;
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + bytes, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(CALLER_RATE_HZ, 24);
  head.writeUInt32LE(CALLER_RATE_HZ * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(bytes, 40);
  await writeFile(path, Buffer.concat([head, Buffer.from(samples.buffer, samples.byteOffset, bytes)]));
  return path;
}
