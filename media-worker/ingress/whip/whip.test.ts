import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../shared/time.ts';
import { readSdp } from '../../../test/conformance/sdp-fixture.ts';
import { playTone, startTestIngress } from '../../../test/conformance/test-ingress.ts';
import { tone, toneShare } from '../../../test/support/pitch.ts';
import { DataPipe } from '../../transport/data-pipe.ts';
import { WebRtcPeer } from '../../transport/webrtc-peer.ts';
import { DEFAULT_WEBRTC_SETTINGS } from '../../transport/webrtc-settings.ts';

const WITHIN = { timeout: 10_000, interval: 20 };
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function setUp(options: Parameters<typeof startTestIngress>[0] = {}) {
  const started = await startTestIngress(options);
  cleanUps.push(() => started.ingress.stop());
  const session = started.gate.open('good');
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${started.httpUrl}/whip`, {
      method: 'POST',
      body,
      headers: { authorization: 'Bearer good', 'content-type': 'application/sdp', ...headers },
    });
  return { ...started, session, post };
}

/** A client of our own making: one peer connection that offers audio and the events channel. */
async function offering() {
  const heard: Int16Array[] = [];
  const peer = new WebRtcPeer(
    { ...DEFAULT_WEBRTC_SETTINGS, boundToLoopback: true },
    { onAudio: (samples) => heard.push(samples) },
  );
  cleanUps.push(() => peer.close());
  peer.addAudioTrack();
  const messages: unknown[] = [];
  const channel = peer.createDataChannel('events', { ordered: true });
  channel.onmessage = ({ data }) => messages.push(JSON.parse(String(data)));
  const events = new DataPipe(channel);
  await peer.createOffer({ iceRestart: false });
  const offer = await peer.gatheredSdp(new AbortController().signal, (ms, signal) =>
    systemClock.sleep(ms, signal),
  );
  return { peer, offer, heard, messages, events };
}

test('one POST makes the call: 201 with a location and an answer that carries its candidates', async () => {
  const { post, session } = await setUp();
  const { offer } = await offering();

  const reply = await post(offer);
  const answer = await reply.text();

  expect(reply.status).toBe(201);
  expect(reply.headers.get('content-type')).toBe('application/sdp');
  expect(reply.headers.get('location')).toMatch(/^\/whip\/[0-9a-f]{32}$/);
  expect(reply.headers.get('access-control-expose-headers')).toContain('Location');
  expect(answer).toMatch(/a=candidate:\S+ 1 udp /);
  expect(session.connections.map((connection) => connection.protocol)).toEqual(['whip']);
});

test('caller and agent hear each other; what was sent early waits for the channel', async () => {
  const { post, session } = await setUp();
  session.onMediaConnected = (connection) => {
    cleanUps.push(playTone(connection, 1_000));
    connection.setAgentState('speaking');
  };
  const client = await offering();

  const reply = await post(client.offer);
  await client.peer.acceptAnswer(await reply.text());
  const second = tone(400, 1_000, 48_000);
  for (let at = 0; at < 48_000; at += 480) client.peer.sendAudio(second.slice(at, at + 480), 48_000);
  client.events.send(JSON.stringify({ type: 'user.interrupt' }));
  client.events.send('garbage');

  const share = (frames: readonly Int16Array[], hz: number) =>
    frames.length < 20 ? 0 : toneShare(Int16Array.from(frames.flatMap((frame) => [...frame])), 48_000, hz);
  await expect
    .poll(
      () =>
        share(
          client.heard.slice(-20).filter((f) => f.length === 480),
          1_000,
        ),
      WITHIN,
    )
    .toBeGreaterThan(0.95);
  await expect.poll(() => client.messages, WITHIN).toEqual([{ type: 'agent.state', state: 'speaking' }]);
  await expect.poll(() => session.events, WITHIN).toEqual([{ type: 'user.interrupt' }]);
  expect(await session.connection.stats()).toMatchObject({ packetsLost: 0 });
});

test('DELETE of the location hangs up; it is gone then', async () => {
  const { post, session, httpUrl } = await setUp();
  const { offer } = await offering();
  const location = (await post(offer)).headers.get('location');
  const remove = (token: string) =>
    fetch(`${httpUrl}${location}`, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });

  expect((await remove('forged')).status).toBe(401);
  expect(session.gone).toEqual([]);
  expect((await remove('good')).status).toBe(200);
  expect(session.gone).toEqual(['left']);
  expect((await remove('good')).status).toBe(404);
});

test('candidates may follow in a PATCH; an ICE restart is refused', async () => {
  const { post, httpUrl } = await setUp();
  const { offer } = await offering();
  const location = (await post(offer)).headers.get('location');
  const userFragment = /a=ice-ufrag:(\S+)/.exec(offer)?.[1];
  const patch = (body: string, type = 'application/trickle-ice-sdpfrag') =>
    fetch(`${httpUrl}${location}`, {
      method: 'PATCH',
      body,
      headers: { authorization: 'Bearer good', 'content-type': type },
    });
  const fragment = (name: string) =>
    `a=ice-ufrag:${name}\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\na=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\n`;

  expect((await patch(fragment(userFragment ?? ''))).status).toBe(204);
  expect((await patch(fragment('other'))).status).toBe(422);
  expect((await patch(fragment('x'), 'text/plain')).status).toBe(415);
});

test('a bad offer is refused with its reason, and the worker goes on', async () => {
  const { post, session } = await setUp();
  const { offer } = await offering();

  const noAudio = await post('v=0\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n');
  const garbage = await post('v=0\r\nm=audio 9 nonsense');
  const wrongType = await post(offer, { 'content-type': 'application/json' });
  const tooLarge = await post('v'.repeat(70_000));

  expect([noAudio.status, await noAudio.json()]).toEqual([
    422,
    { status: 422, message: 'The offer has no audio', reason: null },
  ]);
  expect([garbage.status, wrongType.status, tooLarge.status]).toEqual([422, 415, 413]);
  expect(session.connections).toEqual([]);
  expect((await post(offer)).status).toBe(201);
});

test('a bad token is 401, an ended session 404', async () => {
  const { post, gate } = await setUp();
  gate.open('over');
  gate.end('over');
  const { offer } = await offering();

  expect((await post(offer, { authorization: 'Bearer forged' })).status).toBe(401);
  expect((await post(offer, { authorization: 'Basic eDp5' })).status).toBe(401);
  expect((await post(offer, { authorization: 'Bearer over' })).status).toBe(404);
});

test('when no port is free the answer is 503 with a time to try again', async () => {
  const { post, session } = await setUp({ webrtc: { udpPortRange: { min: 45_991, max: 45_991 } } });
  const first = await offering();
  const second = await offering();

  expect((await post(first.offer)).status).toBe(201);
  const full = await post(second.offer);

  expect([full.status, full.headers.get('retry-after')]).toEqual([503, '5']);
  expect(session.connections).toHaveLength(1);
});

test('TURN servers are told in Link headers', async () => {
  const iceServers = [{ urls: ['turn:turn.test?transport=udp'], username: 'u', credential: 'c' }];
  const { post } = await setUp({ webrtc: { iceServers, gatherTimeoutMs: 50 } });
  const { offer } = await offering();

  const reply = await post(offer);

  expect(reply.headers.get('link')).toBe(
    '<turn:turn.test?transport=udp>; rel="ice-server"; username="u"; credential="c"; credential-type="password"',
  );
});

test('a client that never connects is lost', async () => {
  const { post, session } = await setUp({ liveness: { checkIntervalMs: 10, mediaSilenceMs: 100 } });

  expect((await post(await readSdp('aiortc-offer'))).status).toBe(201);

  await expect.poll(() => session.gone, WITHIN).toEqual(['lost']);
});

test('a page of any origin may call', async () => {
  const { httpUrl } = await setUp();

  const reply = await fetch(`${httpUrl}/whip`, {
    method: 'OPTIONS',
    headers: { origin: 'https://page.test', 'access-control-request-headers': 'authorization,content-type' },
  });

  expect(reply.status).toBe(204);
  expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  expect(reply.headers.get('access-control-allow-methods')).toContain('POST');
  expect(reply.headers.get('access-control-allow-headers')).toBe('authorization,content-type');
  expect(reply.headers.get('accept-post')).toBe('application/sdp');
});
