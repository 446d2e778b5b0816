import { describe, expect, test } from 'vitest';
import { CarrierRefused, CarrierUnreachable } from '../../control-plane/phone/carrier.ts';
import type { Json } from './agents-setup.ts';
import { DAY_MICROS, NUMBER, NUMBERS, type PhoneApi, setUpPhoneApi } from './phone-setup.ts';

const AVAILABLE = '/v1/agent/available-phone-numbers';
const START_MICROS = 100_000_000;

const refused = new CarrierRefused('the number is not available');
const numberAt = (line: number) => `+1415555${String(line).padStart(4, '0')}`;
const firstIssue = (body: unknown) => (Array.isArray(body) ? body[0] : body);

async function list(api: PhoneApi, query = ''): Promise<Json[]> {
  const reply = await api.askPhones('GET', `${NUMBERS}${query}`);
  expect(reply.status).toBe(200);
  return reply.body['phone_numbers'] as Json[];
}

describe('searching numbers', () => {
  test('asks the carrier for local numbers of the country and area code', async () => {
    const api = await setUpPhoneApi();
    api.carrier.available = [
      {
        phoneNumber: NUMBER,
        friendlyName: '(415) 555-0100',
        locality: 'San Francisco',
        region: 'CA',
        countryCode: 'US',
      },
    ];

    const { status, body } = await api.askPhones('GET', `${AVAILABLE}?country_code=CA&area_code=416`);

    expect(status).toBe(200);
    expect(body).toEqual({
      available_phone_numbers: [
        {
          phone_number: NUMBER,
          friendly_name: '(415) 555-0100',
          locality: 'San Francisco',
          region: 'CA',
          country_code: 'US',
        },
      ],
    });
    expect(api.carrier.searches).toEqual([{ countryCode: 'CA', areaCode: '416', limit: 30 }]);
  });

  test('is in the United States unless another country is named', async () => {
    const api = await setUpPhoneApi();
    await api.askPhones('GET', AVAILABLE);
    expect(api.carrier.searches).toMatchObject([{ countryCode: 'US', areaCode: null }]);
  });

  test('toll-free numbers are 400; other countries, providers and malformed area codes are 422', async () => {
    const api = await setUpPhoneApi();
    const rules: [string, number][] = [
      ['number_type=toll_free', 400],
      ['country_code=DE', 422],
      ['area_code=abc', 422],
      ['area_code=15', 422],
      ['provider=sip', 422],
    ];
    for (const [query, status] of rules) {
      expect.soft((await api.askPhones('GET', `${AVAILABLE}?${query}`)).status, query).toBe(status);
    }
    expect(api.carrier.searches).toEqual([]);
  });

  test('a refusal of the provider is 502 and names it', async () => {
    const api = await setUpPhoneApi();
    api.carrier.failures.set('search', new CarrierRefused('no such area'));
    const { status, body } = await api.askPhones('GET', AVAILABLE);
    expect(status).toBe(502);
    expect(body['message']).toBe('Fake carrier refused the request: no such area');
  });

  test('a provider that can’t be reached is 503', async () => {
    const api = await setUpPhoneApi();
    api.carrier.failures.set('search', new CarrierUnreachable());
    expect((await api.askPhones('GET', AVAILABLE)).status).toBe(503);
  });

  test('without a provider it is 503 and says so', async () => {
    const api = await setUpPhoneApi({ withoutCarrier: true });
    const { status, body } = await api.askPhones('GET', AVAILABLE);
    expect(status).toBe(503);
    expect(body['message']).toBe('No telephony provider is set up on this server');
  });
});

describe('buying a number', () => {
  test('answers the record, charges the first day and asks the carrier once', async () => {
    const api = await setUpPhoneApi();
    const agentId = await api.publishedAgent();

    const { status, body } = await api.askPhones('POST', NUMBERS, {
      provider: 'twilio',
      phone_number: NUMBER,
      label: 'Front desk',
      agent_id: agentId,
    });

    expect(status).toBe(201);
    const nowIso = new Date(api.clock.nowMs()).toISOString();
    expect(body).toEqual({
      phone_number_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      workspace_id: 'w1',
      phone_number: NUMBER,
      provider: 'twilio',
      label: 'Front desk',
      agent_id: agentId,
      status: 'active',
      status_detail: '',
      supports_outbound: true,
      inbound_auth_username: null,
      has_inbound_auth_password: false,
      inbound_allowed_addresses: [],
      termination_uri: null,
      termination_transport: null,
      termination_auth_username: null,
      has_termination_auth_password: false,
      termination_headers: {},
      cold_transfer_use_original_caller: false,
      cold_transfer_use_original_caller_effective: false,
      caller_id_sync_status: 'carrier_managed',
      caller_id_sync_error: null,
      created_at: nowIso,
      updated_at: nowIso,
    });
    expect(api.carrier.bought).toEqual([NUMBER]);
    expect(await api.balance()).toBe(START_MICROS - DAY_MICROS);
  });

  test('a body that breaks a rule is 422, and nothing is charged', async () => {
    const api = await setUpPhoneApi();
    const rules: Record<string, Json> = {
      'phone_number is E.164': { phone_number: '4155550100' },
      'phone_number is required': {},
      'a label has at most 120 characters': { phone_number: NUMBER, label: 'x'.repeat(121) },
      'a label is not null': { phone_number: NUMBER, label: null },
      'the provider is twilio or sip': { phone_number: NUMBER, provider: 'livekit' },
      'unknown fields are refused': { phone_number: NUMBER, colour: 'red' },
      'a bought number has no trunk': { phone_number: NUMBER, termination_uri: 'sip.example' },
    };
    for (const [rule, body] of Object.entries(rules)) {
      expect.soft((await api.askPhones('POST', NUMBERS, body)).status, rule).toBe(422);
    }
    expect(await api.balance()).toBe(START_MICROS);
    expect(api.carrier.bought).toEqual([]);
  });

  test('an agent of nobody’s or of another team’s is 404', async () => {
    const api = await setUpPhoneApi();
    const agentId = await api.publishedAgent();
    const bodyOf = (agent_id: string) => ({ phone_number: NUMBER, agent_id });
    const foreign = await api.askPhones('POST', NUMBERS, bodyOf(agentId), { key: 'other' });
    const missing = await api.askPhones('POST', NUMBERS, bodyOf('0'.repeat(32)));
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(missing.body);
  });

  test('needs beta access', async () => {
    const api = await setUpPhoneApi();
    const reply = await api.askPhones('POST', NUMBERS, { phone_number: NUMBER }, { key: 'nobeta' });
    expect(reply.status).toBe(403);
    expect(await api.balance()).toBe(START_MICROS);
  });

  test('without credit it is 402 before anything else happens', async () => {
    const api = await setUpPhoneApi({ creditMicros: DAY_MICROS - 1 });
    const { status, body } = await api.askPhones('POST', NUMBERS, { phone_number: NUMBER });
    expect(status).toBe(402);
    expect(body['message']).toBe('Out of API credit');
    expect(api.carrier.bought).toEqual([]);
    expect(await list(api)).toEqual([]);
    expect(await api.balance()).toBe(DAY_MICROS - 1);
  });

  test('a number that a team holds is 409, also for another team', async () => {
    const api = await setUpPhoneApi();
    await api.boughtNumber();
    for (const key of ['good', 'other']) {
      const { status, body } = await api.askPhones('POST', NUMBERS, { phone_number: NUMBER }, { key });
      expect(status).toBe(409);
      expect(body['message']).toBe('This number is already on the platform');
    }
    expect(await api.balance()).toBe(START_MICROS - DAY_MICROS);
  });

  test('past the team’s maximum of live numbers it is 403 with the maximum', async () => {
    const api = await setUpPhoneApi({ limits: { numbersPerTeam: 2 } });
    await api.boughtNumber({ phone_number: numberAt(1) });
    const second = await api.boughtNumber({ phone_number: numberAt(2) });

    const third = await api.askPhones('POST', NUMBERS, { phone_number: numberAt(3) });
    expect(third.status).toBe(403);
    expect(third.body['message']).toBe('Phone number limit reached for this team (2)');
    expect(await api.balance()).toBe(START_MICROS - 2 * DAY_MICROS);

    await api.boughtNumber({ phone_number: numberAt(4) }, 'other');
    await api.askPhones('DELETE', `${NUMBERS}/${second}`);
    await api.boughtNumber({ phone_number: numberAt(3) });
  });

  test('50 parallel purchases of one number make one', async () => {
    const api = await setUpPhoneApi();
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => api.askPhones('POST', NUMBERS, { phone_number: NUMBER })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(49);
    expect(api.carrier.bought).toEqual([NUMBER]);
    expect(await api.balance()).toBe(START_MICROS - DAY_MICROS);
    expect(await list(api)).toHaveLength(1);
  });

  test('50 parallel purchases of different numbers stop at the team’s maximum', async () => {
    const api = await setUpPhoneApi();
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) => api.askPhones('POST', NUMBERS, { phone_number: numberAt(i) })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(replies.filter(({ status }) => status === 403)).toHaveLength(40);
    expect(await api.balance()).toBe(START_MICROS - 10 * DAY_MICROS);
  });

  test('50 parallel purchases on credit for three make three', async () => {
    const api = await setUpPhoneApi({ creditMicros: 3 * DAY_MICROS, limits: { numbersPerTeam: 100 } });
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) => api.askPhones('POST', NUMBERS, { phone_number: numberAt(i) })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(replies.filter(({ status }) => status === 402)).toHaveLength(47);
    expect(await api.balance()).toBe(0);
    expect(await list(api)).toHaveLength(3);
  });

  test('without a provider it is 503 and leaves nothing', async () => {
    const api = await setUpPhoneApi({ withoutCarrier: true });
    expect((await api.askPhones('POST', NUMBERS, { phone_number: NUMBER })).status).toBe(503);
    expect(await list(api)).toEqual([]);
    expect(await api.balance()).toBe(START_MICROS);
  });
});

describe('a purchase that fails', () => {
  test('is 502, gives the charge back and leaves the row with status error', async () => {
    const api = await setUpPhoneApi();
    api.carrier.failures.set('buy', refused);

    const { status, body } = await api.askPhones('POST', NUMBERS, { phone_number: NUMBER });

    expect(status).toBe(502);
    expect(body['message']).toBe('Fake carrier refused the request: the number is not available');
    expect(await api.balance()).toBe(START_MICROS);
    const [row] = await list(api);
    expect(row).toMatchObject({ phone_number: NUMBER, status: 'error', status_detail: body['message'] });
    expect((await api.askPhones('GET', `${NUMBERS}/${row?.['phone_number_id']}`)).status).toBe(200);
  });

  test('leaves a row that can be released without asking the provider', async () => {
    const api = await setUpPhoneApi();
    api.carrier.failures.set('buy', refused);
    await api.askPhones('POST', NUMBERS, { phone_number: NUMBER });
    const [row] = await list(api);

    const path = `${NUMBERS}/${row?.['phone_number_id']}`;
    expect((await api.askPhones('DELETE', path)).status).toBe(204);
    expect((await api.askPhones('GET', path)).status).toBe(404);
    expect(api.carrier.released).toEqual([]);
  });

  test('takes neither the number nor a place of the team', async () => {
    const api = await setUpPhoneApi({ limits: { numbersPerTeam: 1 } });
    api.carrier.failures.set('buy', refused);
    await api.askPhones('POST', NUMBERS, { phone_number: NUMBER });
    api.carrier.failures.clear();
    await api.boughtNumber();
    expect(await api.balance()).toBe(START_MICROS - DAY_MICROS);
  });

  test('releasing the failed row leaves the number to the team that bought it since', async () => {
    const api = await setUpPhoneApi();
    api.carrier.failures.set('buy', refused);
    await api.askPhones('POST', NUMBERS, { phone_number: NUMBER });
    const [row] = await list(api);
    api.carrier.failures.clear();
    const bought = await api.boughtNumber({}, 'other');

    await api.askPhones('DELETE', `${NUMBERS}/${row?.['phone_number_id']}`);

    const held = await api.askPhones('GET', `${NUMBERS}/${bought}`, undefined, { key: 'other' });
    expect(held.body['status']).toBe('active');
    expect(api.carrier.released).toEqual([]);
  });

  test('for want of an answer keeps the number from others until it is released at the provider', async () => {
    const api = await setUpPhoneApi();
    api.carrier.failures.set('buy', new Error('socket hang up'));
    const { status, body } = await api.askPhones('POST', NUMBERS, { phone_number: NUMBER });
    expect([status, body['message']]).toEqual([502, 'Fake carrier did not answer']);
    expect(await api.balance()).toBe(START_MICROS);
    api.carrier.failures.clear();

    const others = await api.askPhones('POST', NUMBERS, { phone_number: NUMBER }, { key: 'other' });
    expect(others.status).toBe(409);

    const [row] = await list(api);
    await api.askPhones('DELETE', `${NUMBERS}/${row?.['phone_number_id']}`);
    expect(api.carrier.released).toEqual([NUMBER]);
    await api.boughtNumber({}, 'other');
  });
});

describe('releasing a number', () => {
  test('gives it back; it answers 404 from then on and is on no list', async () => {
    const api = await setUpPhoneApi();
    const path = `${NUMBERS}/${await api.boughtNumber()}`;
    const missing = await api.askPhones('GET', `${NUMBERS}/${'0'.repeat(32)}`);

    const released = await api.askPhones('DELETE', path);

    expect([released.status, released.body]).toEqual([204, null]);
    expect(api.carrier.released).toEqual([NUMBER]);
    const reads: [string, string, unknown][] = [
      ['GET', path, undefined],
      ['PATCH', path, { label: 'x' }],
      ['PUT', `${path}/sip-config`, {}],
      ['DELETE', path, undefined],
    ];
    for (const [method, at, body] of reads) {
      const reply = await api.askPhones(method, at, body);
      expect([reply.status, reply.body]).toEqual([404, missing.body]);
    }
    expect(await list(api)).toEqual([]);
  });

  test('a failed release is 502 and keeps the number live; releasing again retries', async () => {
    const api = await setUpPhoneApi();
    const path = `${NUMBERS}/${await api.boughtNumber()}`;
    api.carrier.failures.set('release', new CarrierRefused('try later'));

    expect((await api.askPhones('DELETE', path)).status).toBe(502);
    expect((await api.askPhones('GET', path)).body['status']).toBe('active');

    api.carrier.failures.clear();
    expect((await api.askPhones('DELETE', path)).status).toBe(204);
  });

  test('a number that is still being bought is 409', async () => {
    const api = await setUpPhoneApi();
    let goOn: () => void = () => {};
    api.carrier.failures.set('buy', new Promise<void>((resolve) => (goOn = resolve)));
    const buying = api.askPhones('POST', NUMBERS, { phone_number: NUMBER });
    let rows: Json[] = [];
    while (rows.length === 0) rows = await list(api);
    expect(rows[0]?.['status']).toBe('provisioning');

    expect((await api.askPhones('DELETE', `${NUMBERS}/${rows[0]?.['phone_number_id']}`)).status).toBe(409);

    goOn();
    expect((await buying).status).toBe(201);
  });
});

describe('reading numbers', () => {
  test('every path answers another team’s number like a missing one', async () => {
    const api = await setUpPhoneApi();
    const paths: [string, string, unknown][] = [
      ['GET', '', undefined],
      ['PATCH', '', { label: 'x' }],
      ['DELETE', '', undefined],
      ['PUT', '/sip-config', {}],
    ];
    const id = await api.boughtNumber();
    for (const [method, tail, body] of paths) {
      const foreign = await api.askPhones(method, `${NUMBERS}/${id}${tail}`, body, { key: 'other' });
      const missing = await api.askPhones(method, `${NUMBERS}/${'0'.repeat(32)}${tail}`, body);
      expect([foreign.status, foreign.body]).toEqual([404, missing.body]);
    }
    expect((await api.askPhones('GET', NUMBERS, undefined, { key: 'other' })).body['phone_numbers']).toEqual(
      [],
    );
  });

  test('the list is newest first, in pages of both styles', async () => {
    const api = await setUpPhoneApi();
    const ids: string[] = [];
    for (let line = 1; line <= 3; line++) {
      ids.unshift(await api.boughtNumber({ phone_number: numberAt(line) }));
      await api.clock.advance(1);
    }
    const first = await api.askPhones('GET', `${NUMBERS}?page_size=2&include_total=true`);
    expect(first.body).toMatchObject({ has_more: true, total: 3 });
    const rest = await api.askPhones('GET', `${NUMBERS}?page_size=2&cursor=${first.body['next_cursor']}`);
    expect(rest.body).toMatchObject({ has_more: false, next_cursor: null, total: null });
    const rows = [...(first.body['phone_numbers'] as Json[]), ...(rest.body['phone_numbers'] as Json[])];
    expect(rows.map((row) => row['phone_number_id'])).toEqual(ids);
    expect((await api.askPhones('GET', `${NUMBERS}?page=2&page_size=2`)).body['total']).toBe(3);
  });

  test('phone_number finds the one, however the query string writes its plus', async () => {
    const api = await setUpPhoneApi();
    await api.boughtNumber({ phone_number: numberAt(1) });
    const id = await api.boughtNumber({ phone_number: numberAt(2) });
    for (const text of ['%2B14155550002', '14155550002', '+14155550002']) {
      const found = await list(api, `?phone_number=${text}`);
      expect
        .soft(
          found.map((row) => row['phone_number_id']),
          text,
        )
        .toEqual([id]);
    }
  });

  test('agent_id finds the numbers bound to the agent', async () => {
    const api = await setUpPhoneApi();
    const agentId = await api.publishedAgent();
    await api.boughtNumber({ phone_number: numberAt(1) });
    const id = await api.boughtNumber({ phone_number: numberAt(2), agent_id: agentId });
    expect((await list(api, `?agent_id=${agentId}`)).map((row) => row['phone_number_id'])).toEqual([id]);
  });
});

describe('changing a number', () => {
  test('label, agent and transfer rule change; what is left out stays', async () => {
    const api = await setUpPhoneApi();
    const agentId = await api.publishedAgent();
    const path = `${NUMBERS}/${await api.boughtNumber({ label: 'old' })}`;

    const bound = await api.askPhones('PATCH', path, { agent_id: agentId });
    expect(bound.body).toMatchObject({ label: 'old', agent_id: agentId });
    const renamed = await api.askPhones('PATCH', path, {
      label: '',
      cold_transfer_use_original_caller: true,
      retry_caller_id_sync: true,
    });
    expect(renamed.body).toMatchObject({
      label: '',
      agent_id: agentId,
      cold_transfer_use_original_caller: true,
    });
    const unbound = await api.askPhones('PATCH', path, { agent_id: null });
    expect(unbound.body).toMatchObject({ agent_id: null, status: 'active' });
  });

  test('a body that breaks a rule is refused, an empty one changes nothing', async () => {
    const api = await setUpPhoneApi();
    const path = `${NUMBERS}/${await api.boughtNumber()}`;
    const rules: [string, Json, number][] = [
      ['a label is not null', { label: null }, 422],
      ['a label has at most 120 characters', { label: 'x'.repeat(121) }, 422],
      ['unknown fields are refused', { status: 'released' }, 422],
      ['the agent exists', { agent_id: 'nobody' }, 404],
      ['nothing needs to change', {}, 200],
    ];
    for (const [rule, body, status] of rules) {
      expect.soft((await api.askPhones('PATCH', path, body)).status, rule).toBe(status);
    }
  });
});

describe('importing a number on an own SIP trunk', () => {
  const trunk = {
    provider: 'sip',
    phone_number: '+493012345678',
    inbound_auth_username: 'parley',
    inbound_auth_password: 'in-secret',
    inbound_allowed_addresses: ['203.0.113.7', '198.51.100.0/24', '2001:db8::/32'],
    termination_uri: 'sip.example.com:5061',
    termination_transport: 'tls',
    termination_auth_username: 'out',
    termination_auth_password: 'out-secret',
    termination_headers: { 'X-Account': '42' },
  };

  test('is active at once, free of charge, and asks no provider', async () => {
    const api = await setUpPhoneApi({ creditMicros: 0, withoutCarrier: true });

    const { status, body } = await api.askPhones('POST', NUMBERS, { ...trunk, label: 'Berlin' });

    expect(status).toBe(201);
    expect(body).toMatchObject({
      phone_number: '+493012345678',
      provider: 'sip',
      label: 'Berlin',
      status: 'active',
      supports_outbound: true,
      inbound_auth_username: 'parley',
      has_inbound_auth_password: true,
      inbound_allowed_addresses: ['203.0.113.7', '198.51.100.0/24', '2001:db8::/32'],
      termination_uri: 'sip.example.com:5061',
      termination_transport: 'tls',
      termination_auth_username: 'out',
      has_termination_auth_password: true,
      termination_headers: { 'X-Account': '42' },
    });
    const path = `${NUMBERS}/${body['phone_number_id']}`;
    expect((await api.askPhones('GET', path)).body).toEqual(body);
    expect((await api.askPhones('DELETE', path)).status).toBe(204);
  });

  test('passwords are in no reply and not in the clear in the store', async () => {
    const api = await setUpPhoneApi();
    const created = await api.askPhones('POST', NUMBERS, trunk);
    const path = `${NUMBERS}/${created.body['phone_number_id']}`;
    const replies = [
      created,
      await api.askPhones('GET', path),
      await api.askPhones('GET', NUMBERS),
      await api.askPhones('PATCH', path, { label: 'x' }),
    ];
    const stored = await api.store.collection('phone_numbers').find({});
    for (const text of [...replies.map(({ body }) => JSON.stringify(body)), JSON.stringify(stored)]) {
      expect(text).not.toMatch(/in-secret|out-secret/);
    }
    expect(JSON.stringify(stored)).toContain('v1.');
  });

  test('without a host to send calls to it does not call out', async () => {
    const api = await setUpPhoneApi();
    const { provider, phone_number } = trunk;
    const { status, body } = await api.askPhones('POST', NUMBERS, {
      provider,
      phone_number,
      inbound_allowed_addresses: ['203.0.113.7'],
    });
    expect([status, body['supports_outbound']]).toEqual([201, false]);
    expect(body).toMatchObject({ termination_uri: null, termination_transport: 'auto' });
  });

  test('a Japanese trunk zero is dropped', async () => {
    const api = await setUpPhoneApi();
    const { body } = await api.askPhones('POST', NUMBERS, { ...trunk, phone_number: '+810312345678' });
    expect(body['phone_number']).toBe('+81312345678');
  });

  test('counts towards the team’s maximum and holds its number', async () => {
    const api = await setUpPhoneApi({ limits: { numbersPerTeam: 1 } });
    await api.boughtNumber();
    expect((await api.askPhones('POST', NUMBERS, trunk)).status).toBe(403);
    const foreign = await api.askPhones(
      'POST',
      NUMBERS,
      { ...trunk, phone_number: NUMBER },
      { key: 'other' },
    );
    expect(foreign.status).toBe(409);
  });

  test('a trunk that breaks a rule is 422 at its field', async () => {
    const api = await setUpPhoneApi();
    const noFactor = {
      inbound_auth_username: '',
      inbound_auth_password: '',
      inbound_allowed_addresses: [],
    };
    const rules: [string, Json, string][] = [
      ['no inbound factor at all', noFactor, 'inbound_auth_username'],
      ['a user name without its password', { inbound_auth_password: null }, 'inbound_auth_password'],
      ['a password without its user name', { inbound_auth_username: null }, 'inbound_auth_username'],
      ['a user name of 129 characters', { inbound_auth_username: 'x'.repeat(129) }, 'inbound_auth_username'],
      ['a quote in a user name', { inbound_auth_username: 'a"b' }, 'inbound_auth_username'],
      ['a line break in a password', { inbound_auth_password: 'a\r\nb' }, 'inbound_auth_password'],
      [
        '33 addresses',
        { inbound_allowed_addresses: Array(33).fill('203.0.113.7') },
        'inbound_allowed_addresses',
      ],
      [
        'an address that is none',
        { inbound_allowed_addresses: ['sip.example'] },
        'inbound_allowed_addresses',
      ],
      ['a short IPv4 form', { inbound_allowed_addresses: ['10.1'] }, 'inbound_allowed_addresses'],
      [
        'a prefix past the address',
        { inbound_allowed_addresses: ['10.0.0.0/33'] },
        'inbound_allowed_addresses',
      ],
      ['a range of every address', { inbound_allowed_addresses: ['0.0.0.0/0'] }, 'inbound_allowed_addresses'],
      ['a SIP URI for a host', { termination_uri: 'sip:sip.example.com' }, 'termination_uri'],
      ['a user in the host', { termination_uri: 'me@sip.example.com' }, 'termination_uri'],
      ['a parameter on the host', { termination_uri: 'sip.example.com;lr' }, 'termination_uri'],
      ['a port past 65535', { termination_uri: 'sip.example.com:65536' }, 'termination_uri'],
      ['a private host', { termination_uri: '10.0.0.8' }, 'termination_uri'],
      ['a loopback name', { termination_uri: 'localhost:5060' }, 'termination_uri'],
      ['an unknown transport', { termination_transport: 'sctp' }, 'termination_transport'],
      ['termination credentials without a host', { termination_uri: '' }, 'termination_uri'],
      [
        'a termination user without a password',
        { termination_auth_password: '' },
        'termination_auth_password',
      ],
      ['a header of the protocol', { termination_headers: { Via: 'x' } }, 'termination_headers'],
      ['a line break in a header', { termination_headers: { 'X-A': 'b\r\nVia: c' } }, 'termination_headers'],
    ];
    for (const [rule, change, field] of rules) {
      const { status, body } = await api.askPhones('POST', NUMBERS, { ...trunk, ...change });
      expect.soft(status, rule).toBe(422);
      expect.soft(firstIssue(body)?.loc?.slice(0, 2), rule).toEqual(['body', field]);
      expect.soft(JSON.stringify(body), rule).not.toMatch(/in-secret|out-secret/);
    }
    expect(await list(api)).toEqual([]);
  });

  test('a private host that the operator opened is taken', async () => {
    const api = await setUpPhoneApi();
    const reply = await api.askPhones('POST', NUMBERS, { ...trunk, termination_uri: '10.0.0.7' });
    expect(reply.status).toBe(201);
  });

  test('one inbound factor is enough', async () => {
    const api = await setUpPhoneApi();
    const digest = { ...trunk, inbound_allowed_addresses: [] };
    expect((await api.askPhones('POST', NUMBERS, digest)).status).toBe(201);
  });
});

describe('replacing the trunk', () => {
  async function imported(api: PhoneApi): Promise<string> {
    const { body } = await api.askPhones('POST', NUMBERS, {
      provider: 'sip',
      phone_number: '+493012345678',
      label: 'Berlin',
      inbound_auth_username: 'parley',
      inbound_auth_password: 'in-secret',
      termination_uri: 'sip.example.com',
      termination_headers: { 'X-A': '1' },
    });
    return `${NUMBERS}/${body['phone_number_id']}/sip-config`;
  }

  test('what is left out is taken away; an empty password keeps the stored one', async () => {
    const api = await setUpPhoneApi();
    const path = await imported(api);
    for (const password of ['', null, undefined]) {
      const { status, body } = await api.askPhones('PUT', path, {
        inbound_auth_username: 'renamed',
        inbound_auth_password: password,
      });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        label: 'Berlin',
        inbound_auth_username: 'renamed',
        has_inbound_auth_password: true,
        termination_uri: null,
        termination_headers: {},
        supports_outbound: false,
      });
    }
  });

  test('a user name that is left out takes its password along', async () => {
    const api = await setUpPhoneApi();
    const path = await imported(api);
    const open = await api.askPhones('PUT', path, { inbound_allowed_addresses: ['203.0.113.7'] });
    expect(open.body).toMatchObject({ inbound_auth_username: null, has_inbound_auth_password: false });
    const closed = await api.askPhones('PUT', path, { inbound_auth_username: 'parley' });
    expect(closed.status).toBe(422);
  });

  test('without any inbound factor it is 422 and the trunk stays', async () => {
    const api = await setUpPhoneApi();
    const path = await imported(api);
    expect((await api.askPhones('PUT', path, {})).status).toBe(422);
    const [row] = await list(api);
    expect(row).toMatchObject({ inbound_auth_username: 'parley', termination_uri: 'sip.example.com' });
  });

  test('of a bought number it is 400', async () => {
    const api = await setUpPhoneApi();
    const path = `${NUMBERS}/${await api.boughtNumber()}/sip-config`;
    const reply = await api.askPhones('PUT', path, { inbound_allowed_addresses: ['203.0.113.7'] });
    expect(reply.status).toBe(400);
  });
});
