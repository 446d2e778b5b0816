import { expect, test } from 'vitest';
import { AGENTS, setUpMaterials, startWebhook, TOOLS } from './tools-setup.ts';

const BEARER = { name: 'Authorization', value: 'Bearer hush-bearer', kind: 'authorization_bearer' };
const BASIC = { name: 'X-Upstream-Auth', value: 'Basic hush-basic', kind: 'authorization_basic' };
const PLAIN = { name: 'X-Team', value: 'north', kind: 'custom' };

test('credential headers read as null with has_secret, custom ones as they are', async () => {
  const { ask, createTool } = await setUpMaterials();
  const id = await createTool({ headers: [BEARER, BASIC, PLAIN] });
  expect((await ask('GET', `${TOOLS}/${id}`)).body['headers']).toEqual([
    { name: 'Authorization', kind: 'authorization_bearer', value: null, has_secret: true },
    { name: 'X-Upstream-Auth', kind: 'authorization_basic', value: null, has_secret: true },
    { name: 'X-Team', kind: 'custom', value: 'north', has_secret: false },
  ]);
});

test('a credential is in no answer, no log line and not in the store’s bytes', async () => {
  const { ask, createTool, createAgent, attach, publish, rawBytes, server } = await setUpMaterials();
  const id = await createTool({ headers: [BEARER, BASIC] });
  const agent = await createAgent();
  await attach(agent, id);
  await publish(agent);

  const seen: unknown[] = [];
  for (const path of [
    TOOLS,
    `${TOOLS}/${id}`,
    `${TOOLS}/${id}/agents`,
    `${AGENTS}/${agent}`,
    `${AGENTS}/${agent}/config`,
    `${AGENTS}/${agent}/versions`,
    `${AGENTS}/${agent}/versions/1`,
  ]) {
    const { status, body } = await ask('GET', path);
    expect(status).toBe(200);
    seen.push(body);
  }
  seen.push(
    (await ask('PATCH', `${TOOLS}/${id}`, { headers: [{ ...BEARER, value: 'Bearer hush-two' }] })).body,
  );
  seen.push((await ask('POST', TOOLS, { name: 'T', headers: [{ ...BEARER, name: 'bad name' }] })).body);
  seen.push((await ask('POST', `${TOOLS}/${id}/test`, {})).body);
  seen.push(server.lines);

  expect(JSON.stringify(seen)).not.toMatch(/hush|v1\./);
  const raw = await rawBytes();
  expect(raw.includes('Look up')).toBe(true);
  expect(raw.includes('hush')).toBe(false);
});

test('PATCH headers replaces the list; a new value rotates the credential', async () => {
  const webhook = await startWebhook((response) => response.end());
  const { ask, createTool } = await setUpMaterials({ allowHosts: [webhook.host] });
  const id = await createTool({ url: webhook.url, headers: [BEARER, PLAIN] });
  const call = async () => {
    await ask('POST', `${TOOLS}/${id}/test`, {});
    return webhook.received.at(-1)?.headers;
  };

  await ask('PATCH', `${TOOLS}/${id}`, { description: 'headers are left out' });
  expect(await call()).toMatchObject({ authorization: 'Bearer hush-bearer', 'x-team': 'north' });

  await ask('PATCH', `${TOOLS}/${id}`, { headers: [{ ...BEARER, value: 'Bearer hush-two' }] });
  const headers = await call();
  expect(headers).toMatchObject({ authorization: 'Bearer hush-two' });
  expect(headers).not.toHaveProperty('x-team');

  await ask('PATCH', `${TOOLS}/${id}`, { headers: [] });
  expect(await call()).not.toHaveProperty('authorization');
});

test('a credential that becomes a custom header must be sent, and is readable from then on', async () => {
  const { ask, createTool } = await setUpMaterials();
  const path = `${TOOLS}/${await createTool({ headers: [BEARER] })}`;
  expect((await ask('PATCH', path, { headers: [{ name: 'Authorization', kind: 'custom' }] })).status).toBe(
    422,
  );
  const { body } = await ask('PATCH', path, { headers: [{ ...BEARER, kind: 'custom', value: 'shown' }] });
  expect(body['headers']).toEqual([
    { name: 'Authorization', kind: 'custom', value: 'shown', has_secret: false },
  ]);
});
