import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EveryRoute, type Ids, type Operation, startEveryRoute } from './every-route-setup.ts';

let api: EveryRoute;
let own: Ids;
let otherKey: string;
beforeAll(async () => {
  api = await startEveryRoute();
  own = await api.makeOneOfEach();
  otherKey = (await api.newAccount()).apiKey;
});
afterAll(() => api?.stop());

/** Ids that nobody has, each of the form of a real one. */
const missing = (ids: Ids): Ids =>
  Object.fromEntries(
    Object.entries(ids).map(([name, id]) => [
      name,
      name === 'version_number' ? id : id.replace(/[0-9a-z]{20}$/, '0'.repeat(20)),
    ]),
  );

const asOther = () => ({ authorization: `Bearer ${otherKey}` });

/** All that a caller can see of a reply, but for what differs from request to request. */
const visible = ({ status, headers, text }: Awaited<ReturnType<EveryRoute['perform']>>) => {
  const shown = [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name));
  return { status, headers: Object.fromEntries(shown), text };
};

const withResource = () => api.operations.filter(({ placeholders }) => placeholders.length > 0);
const named = (operations: readonly Operation[]) => operations.map((operation) => operation.name);

test('every operation on a resource answers another team exactly as if the resource did not exist', async () => {
  const operations = withResource().filter(({ name }) => !name.endsWith('/widget'));
  expect(named(operations).length).toBeGreaterThanOrEqual(25);
  for (const operation of operations) {
    const ofOther = visible(await api.perform(operation, own, asOther()));
    const ofNobody = visible(await api.perform(operation, missing(own), asOther()));

    expect(ofOther.status, operation.name).toBe(404);
    expect(ofOther, operation.name).toEqual(ofNobody);
  }
});

test('what another team did to the resources changed nothing: their owner still reads them', async () => {
  for (const operation of withResource().filter(({ method }) => method === 'GET')) {
    const reply = await api.perform(operation, own);
    const isThere = reply.status === 200 || JSON.parse(reply.text).message === 'Recording not found';
    expect(isThere, `${operation.name} ${reply.text}`).toBe(true);
  }
});

test('the lists of a team hold nothing of another', async () => {
  const lists = api.operations.filter(
    ({ method, path, placeholders }) =>
      method === 'GET' && placeholders.length === 0 && path.startsWith('/v1/') && !path.includes('available'),
  );
  expect(lists.length).toBeGreaterThanOrEqual(4);
  for (const operation of lists) {
    const reply = await api.perform(operation, {}, asOther());
    expect([operation.name, reply.status]).toEqual([operation.name, 200]);
    for (const id of Object.values(own).filter((each) => each.length > 4))
      expect(reply.text).not.toContain(id);
  }
});

describe('a reference to another team’s resource', () => {
  const refusal = async (method: string, path: string, body: unknown, ids: Ids) => {
    const reply = await api.send(method, path, JSON.stringify(body), {
      ...asOther(),
      'content-type': 'application/json',
    });
    // A message may name the id that was sent.
    const ownWords = Object.entries(ids).reduce(
      (text, [name, id]) => text.replaceAll(id, `{${name}}`),
      reply.text,
    );
    return { status: reply.status, ownWords };
  };

  const sameRefusal = async (method: string, path: string, body: (ids: Ids) => unknown) => {
    const ofOther = await refusal(method, path, body(own), own);
    const ofNobody = await refusal(method, path, body(missing(own)), missing(own));
    expect(ofOther).toEqual(ofNobody);
    return ofOther.status;
  };

  test('starts no session', async () => {
    const status = await sameRefusal('POST', '/v1/agent/sessions', ({ agent_id }) => ({ agent_id }));
    expect(status).toBe(404);
  });

  test('attaches no tool and no knowledge source', async () => {
    const created = await api.call('POST', '/v1/agent/agents', { name: 'Theirs' }, otherKey);
    const path = `/v1/agent/agents/${created.body.agent_id}/config`;
    expect(await sameRefusal('PATCH', path, ({ tool_id }) => ({ tools: { tool_ids: [tool_id] } }))).toBe(422);
    expect(
      await sameRefusal('PATCH', path, ({ source_id }) => ({
        knowledge_base: { knowledge_source_ids: [source_id] },
      })),
    ).toBe(422);
  });

  test('makes no phone call, with a foreign agent or a foreign number', async () => {
    const status = await sameRefusal('POST', '/v1/agent/phone-calls', ({ agent_id, phone_number_id }) => ({
      agent_id,
      phone_number_id,
      to_number: '+14155550123',
    }));
    expect(status).toBe(404);
  });

  test('binds no number', async () => {
    const { body } = await api.call('GET', '/v1/agent/available-phone-numbers', undefined, otherKey);
    const status = await sameRefusal('POST', '/v1/agent/phone-numbers', ({ agent_id }) => ({
      agent_id,
      phone_number: body.available_phone_numbers[0].phone_number,
    }));
    expect(status).toBe(404);
  });

  test('filters nothing out of a list', async () => {
    const list = (agentId: string) =>
      api.call('GET', `/v1/agent/sessions?agent_id=${agentId}`, undefined, otherKey);
    expect((await list(own['agent_id'] ?? '')).body).toEqual((await list('nobody')).body);
  });
});

describe('without a usable Authorization header', () => {
  const headers: [string, Record<string, string>][] = [
    ['none', {}],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['a bearer without a key', { authorization: 'Bearer' }],
  ];

  test.each(headers)('every operation that needs a key answers a bare 401: %s', async (_, header) => {
    const operations = api.operations.filter(({ needsKey }) => needsKey);
    expect(operations.length).toBeGreaterThanOrEqual(28);
    for (const operation of operations) {
      const { status, headers: replyHeaders, text } = await api.perform(operation, own, header);
      expect([operation.name, status, text]).toEqual([operation.name, 401, '']);
      expect(replyHeaders.get('www-authenticate'), operation.name).toBe('Bearer');
      expect(replyHeaders.get('content-type'), operation.name).toBeNull();
    }
  });

  test('every operation answers a key that is not valid with 401 and the error body', async () => {
    for (const operation of api.operations.filter(({ needsKey }) => needsKey)) {
      const { status, text } = await api.perform(operation, own, { authorization: 'Bearer wrong' });
      expect([operation.name, status, text]).toEqual([
        operation.name,
        401,
        JSON.stringify({ status: 401, message: 'Invalid token', reason: null }),
      ]);
    }
  });
});
