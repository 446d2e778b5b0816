import {
  DisconnectReason,
  LeaveRequest_Action,
  ParticipantInfo_Kind,
  SessionDescription,
  SignalRequest,
  SignalResponse,
  SignalTarget,
  TrackType,
  UpdateParticipantMetadata,
} from '@livekit/protocol';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { readSdp } from '../../../test/conformance/sdp-fixture.ts';
import { startTestIngress } from '../../../test/conformance/test-ingress.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

type Answer = SignalResponse['message'];
type Ask = SignalRequest['message'];

/** A bare signalling socket: says what it is told and keeps what it hears. */
class Signaller {
  readonly socket: WebSocket;
  readonly heard: Answer[] = [];
  closeCode: number | null = null;

  constructor(url: string) {
    this.socket = new WebSocket(url);
    this.socket.on('message', (data: Buffer) => this.heard.push(SignalResponse.fromBinary(data).message));
    this.socket.on('close', (code) => {
      this.closeCode = code;
    });
    this.socket.on('error', () => {});
  }

  say(message: Ask): void {
    this.socket.send(new SignalRequest({ message }).toBinary());
  }

  /** Waits for the first message of a kind. */
  async hears<Case extends Answer['case']>(kind: Case): Promise<Extract<Answer, { case: Case }>> {
    await expect.poll(() => this.heard.map((message) => message.case), { timeout: 5_000 }).toContain(kind);
    return this.heard.find((message) => message.case === kind) as Extract<Answer, { case: Case }>;
  }
}

async function setUp(options: Parameters<typeof startTestIngress>[0] = {}) {
  const started = await startTestIngress(options);
  cleanUps.push(() => started.ingress.stop());
  const session = started.gate.open('good');
  const open = (query = 'access_token=good') => {
    const signaller = new Signaller(`${started.wsUrl}/rtc?${query}`);
    cleanUps.push(() => signaller.socket.terminate());
    return signaller;
  };
  return { ...started, session, open };
}

test('a join is answered with the room, the caller, the agent and our offer', async () => {
  const iceServers = [{ urls: ['turn:turn.test:3478'], username: 'u', credential: 'c' }];
  const { open } = await setUp({ webrtc: { iceServers } });

  const client = open();
  const join = (await client.hears('join')).value;
  const offer = (await client.hears('offer')).value;

  expect(client.heard[0]?.case).toBe('join');
  expect(join.room?.name).toBe('ses_good');
  expect(join.participant?.identity).toBe('caller-good');
  expect(join.subscriberPrimary).toBe(true);
  expect([join.pingInterval, join.pingTimeout]).toEqual([5, 15]);
  expect(join.iceServers.map(({ urls, username, credential }) => [urls, username, credential])).toEqual([
    [['turn:turn.test:3478'], 'u', 'c'],
  ]);
  const [agent] = join.otherParticipants;
  expect([join.otherParticipants.length, agent?.kind]).toEqual([1, ParticipantInfo_Kind.AGENT]);
  expect(agent?.attributes).toEqual({ 'lk.agent.state': 'initializing' });
  const trackSid = agent?.tracks[0]?.sid;
  expect(offer.sdp).toContain(`a=msid:${agent?.sid}|${trackSid} ${trackSid}`);
  expect(offer.sdp).toContain('m=application');
});

test('candidates follow the offer, of every address that is advertised and of no other', async () => {
  const { open } = await setUp({ webrtc: { advertisedAddresses: ['203.0.113.7/127.0.0.1'] } });

  const client = open();
  const trickle = (await client.hears('trickle')).value;

  const addresses = client.heard.flatMap((message) =>
    message.case === 'trickle' ? [JSON.parse(message.value.candidateInit).candidate.split(' ')[4]] : [],
  );
  expect(trickle.target).toBe(SignalTarget.SUBSCRIBER);
  expect(new Set(addresses)).toEqual(new Set(['203.0.113.7']));
});

test('a track is published under a sid; asking again gives the same, and muting shows', async () => {
  const { open } = await setUp();
  const client = open();
  await client.hears('join');

  const addTrack = { cid: 'mic-1', type: TrackType.AUDIO, name: 'mic' };
  client.say(new SignalRequest({ message: { case: 'addTrack', value: addTrack as never } }).message);
  const published = (await client.hears('trackPublished')).value;
  client.say(new SignalRequest({ message: { case: 'addTrack', value: addTrack as never } }).message);
  const sid = published.track?.sid ?? '';
  client.say(new SignalRequest({ message: { case: 'mute', value: { sid, muted: true } as never } }).message);

  expect(published.cid).toBe('mic-1');
  expect(sid).toMatch(/^TR_/);
  await expect
    .poll(() => lastCaller(client)?.tracks.map((track) => [track.sid, track.muted]))
    .toEqual([[sid, true]]);
});

test('the caller may set its attributes and name; an empty value removes, too much is refused', async () => {
  const { open } = await setUp();
  const client = open();
  await client.hears('join');
  const update = (attributes: Record<string, string>, name = '') =>
    client.say({
      case: 'updateMetadata',
      value: new UpdateParticipantMetadata({ attributes, name, requestId: 7 }),
    });

  update({ a: '1', b: '2' }, 'Ada');
  update({ a: '' });
  update({ c: 'x'.repeat(70_000) });

  await expect.poll(() => client.heard.filter((m) => m.case === 'requestResponse').length).toBe(3);
  const reasons = client.heard.flatMap((m) => (m.case === 'requestResponse' ? [m.value.reason] : []));
  expect(reasons).toEqual([0, 0, 3]);
  expect([lastCaller(client)?.name, lastCaller(client)?.attributes]).toEqual(['Ada', { b: '2' }]);
});

test('both sorts of ping are answered', async () => {
  const { open } = await setUp();
  const client = open();
  await client.hears('join');

  client.say({ case: 'ping', value: 5n });
  client.say(
    new SignalRequest({ message: { case: 'pingReq', value: { timestamp: 123n } as never } }).message,
  );

  expect((await client.hears('pong')).value).toBeGreaterThan(1_000_000n);
  expect((await client.hears('pongResp')).value.lastPingTimestamp).toBe(123n);
});

test.each([
  ['bytes that are no message', Buffer.from([0xff, 0xff, 0xff, 0xff])],
  ['text', 'hello'],
])('garbage on the signalling socket ends the connection with a reason: %s', async (_name, garbage) => {
  const { open, session } = await setUp();
  const client = open();
  await client.hears('join');

  client.socket.send(garbage);

  expect((await client.hears('leave')).value.reason).toBe(DisconnectReason.STATE_MISMATCH);
  await expect.poll(() => client.closeCode).toBe(1000);
  expect(session.gone).toEqual(['lost']);
});

test('an unknown kind of message is ignored', async () => {
  const { open, session } = await setUp();
  const client = open();
  await client.hears('join');

  // Field 1000, which no version of the protocol uses.
  client.socket.send(Buffer.from([0xc2, 0x3e, 0x01, 0x61]));
  client.say({ case: 'ping', value: 5n });

  await client.hears('pong');
  expect(session.gone).toEqual([]);
});

test('an offer that is no SDP ends the connection with a reason; the worker goes on', async () => {
  const { open, session } = await setUp();
  const client = open();
  await client.hears('join');

  client.say({ case: 'offer', value: new SessionDescription({ type: 'offer', sdp: 'v=0\r\nnonsense' }) });

  expect((await client.hears('leave')).value.action).toBe(LeaveRequest_Action.DISCONNECT);
  expect(session.gone).toEqual(['lost']);
  await open().hears('join');
});

test('garbage candidates are dropped', async () => {
  const { open, session } = await setUp();
  const client = open();
  await client.hears('join');
  const trickle = (candidateInit: string) =>
    client.say(
      new SignalRequest({ message: { case: 'trickle', value: { candidateInit, target: 1 } as never } })
        .message,
    );

  trickle('not json');
  trickle('{"candidate": 7}');
  trickle('{"candidate":"candidate:nonsense","sdpMid":"0","sdpMLineIndex":0}');
  client.say({ case: 'ping', value: 5n });

  await client.hears('pong');
  expect(session.gone).toEqual([]);
});

test('an offer without audio is answered: a client may send data alone', async () => {
  const { open, session } = await setUp();
  const client = open();
  await client.hears('join');

  client.say({
    case: 'offer',
    value: new SessionDescription({ type: 'offer', sdp: await readSdp('data-only'), id: 3 }),
  });

  const answer = (await client.hears('answer')).value;
  expect(answer.id).toBe(3);
  expect(answer.sdp).toContain('m=application');
  expect(session.gone).toEqual([]);
});

test.each(['rtc-node-publisher', 'livekit-client-publisher'])(
  'the offer of a real client is answered: %s',
  async (name) => {
    const { open } = await setUp();
    const client = open();
    await client.hears('join');

    client.say({
      case: 'offer',
      value: new SessionDescription({ type: 'offer', sdp: await readSdp(name), id: 1 }),
    });

    const { sdp } = (await client.hears('answer')).value;
    const offered = (await readSdp(name)).match(/^m=/gm)?.length;
    expect(sdp.match(/^m=/gm)?.length).toBe(offered);
    expect(sdp).toMatch(/a=recvonly/);
  },
);

test('a reconnect takes the call up again under its sid', async () => {
  const { open, session } = await setUp();
  const first = open();
  const join = (await first.hears('join')).value;
  first.socket.terminate();

  const second = open(`access_token=good&reconnect=1&sid=${join.participant?.sid}`);
  await second.hears('reconnect');
  await second.hears('offer');

  expect(second.heard[0]?.case).toBe('reconnect');
  expect(session.connections).toHaveLength(1);
  expect(session.gone).toEqual([]);
});

test("a reconnect to what is gone, or to somebody else's call, is asked to join anew", async () => {
  const { open, gate } = await setUp();
  gate.open('other');
  const other = (await open('access_token=other').hears('join')).value;

  const gone = open('access_token=good&reconnect=1&sid=PA_gone');
  const foreign = open(`access_token=good&reconnect=1&sid=${other.participant?.sid}`);

  expect((await gone.hears('leave')).value.action).toBe(LeaveRequest_Action.RECONNECT);
  expect((await foreign.hears('leave')).value.action).toBe(LeaveRequest_Action.RECONNECT);
});

test('a cut socket that nobody takes up again is a lost caller', async () => {
  const { open, session } = await setUp({ liveness: { checkIntervalMs: 10, resumeWindowMs: 60 } });
  const client = open();
  await client.hears('join');

  client.socket.terminate();

  await expect.poll(() => session.gone).toEqual(['lost']);
});

test('a client that says nothing any more is cut and lost', async () => {
  const { open, session } = await setUp({
    liveness: { checkIntervalMs: 10, signalTimeoutMs: 80, resumeWindowMs: 40 },
  });
  const client = open();
  await client.hears('join');

  await expect.poll(() => client.closeCode).toBe(1001);
  await expect.poll(() => session.gone).toEqual(['lost']);
});

test('a client that pings but never sends media is lost and asked to join anew', async () => {
  const { open, session } = await setUp({ liveness: { checkIntervalMs: 10, mediaSilenceMs: 80 } });
  const client = open();
  await client.hears('join');

  expect((await client.hears('leave')).value.action).toBe(LeaveRequest_Action.RECONNECT);
  expect(session.gone).toEqual(['lost']);
});

test('no free UDP port is told as a join that failed', async () => {
  // One port, which the first caller takes: no two peer connections share one.
  const { open, gate } = await setUp({ webrtc: { udpPortRange: { min: 45_990, max: 45_990 } } });
  gate.open('second');
  await open().hears('join');

  const client = open('access_token=second');

  expect((await client.hears('leave')).value.reason).toBe(DisconnectReason.JOIN_FAILURE);
});

test.each([
  ['/rtc', ''],
  ['/rtc', '?access_token=forged'],
  ['/rtc/v1', '?access_token=good'],
])('an upgrade of %s%s is refused with CORS headers', async (path, query) => {
  const { wsUrl } = await setUp();

  const refused = await new Promise<{ status: number | undefined; cors: unknown }>((resolve) => {
    new WebSocket(`${wsUrl}${path}${query}`)
      .on('error', () => {})
      .on('unexpected-response', (_request, reply) => {
        resolve({ status: reply.statusCode, cors: reply.headers['access-control-allow-origin'] });
        reply.resume();
      });
  });

  expect(refused).toEqual({ status: path === '/rtc' ? 401 : 404, cors: '*' });
});

test.each([
  ['/rtc/validate', 'good', 200, 'success'],
  ['/rtc/validate', 'forged', 401, 'Invalid token'],
  ['/rtc/validate', 'expired', 401, 'Token expired'],
  ['/rtc/validate', 'over', 404, 'requested room does not exist: Session has ended'],
  ['/rtc/v1/validate', 'good', 404, 'not found'],
  ['/rtc/v1/validate', 'expired', 401, 'Token expired'],
  ['/rtc/v1/validate', 'over', 404, 'requested room does not exist: Session has ended'],
])('%s says why a client was refused (%s)', async (path, token, status, words) => {
  const { httpUrl, gate } = await setUp();
  gate.open('over');
  gate.end('over');

  const reply = await fetch(`${httpUrl}${path}?access_token=${token}`);

  expect([reply.status, await reply.text(), reply.headers.get('access-control-allow-origin')]).toEqual([
    status,
    words,
    '*',
  ]);
});

test('the health check answers', async () => {
  const { httpUrl } = await setUp();

  expect(await (await fetch(`${httpUrl}/healthz`)).json()).toEqual({ status: 'ok' });
});

function lastCaller(client: Signaller) {
  const updates = client.heard.flatMap((message) =>
    message.case === 'update' ? message.value.participants : [],
  );
  return updates.findLast((participant) => participant.identity === 'caller-good');
}
