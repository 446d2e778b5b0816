import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { FakeClock } from '../test/fakes/fake-clock.ts';
import { createJoinTokenSigner, createJoinTokenVerifier } from './join-token.ts';

const newPem = () =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const grant = { sessionId: 'ses_1', workerId: 'w1', identity: 'caller', name: 'Ann' };

function setUp() {
  const clock = new FakeClock();
  const privatePem = newPem();
  const signer = createJoinTokenSigner(privatePem, clock);
  const verifier = createJoinTokenVerifier(signer.publicPem, clock);
  return { clock, privatePem, signer, verifier };
}

const invalid = { kind: 'invalid_token', message: 'Invalid token' };

test('a token opens the session it was signed for, with the public key alone', async () => {
  const { clock, signer, verifier } = setUp();
  const expiresAtMs = clock.nowMs() + 60_000;

  const token = await signer.sign(grant, expiresAtMs);

  expect(await verifier.verify(token)).toEqual({ ...grant, expiresAtMs });
});

test('it carries the claims of a LiveKit access token', async () => {
  const { clock, signer } = setUp();

  const token = await signer.sign(grant, clock.nowMs() + 60_000);
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

  expect(claims).toMatchObject({
    sub: 'caller',
    name: 'Ann',
    video: { room: 'ses_1', roomJoin: true, canPublish: true, canSubscribe: true, canPublishData: true },
    sid: 'ses_1',
    wid: 'w1',
  });
  expect(claims.exp - claims.nbf).toBe(70);
  expect(claims.jti).toMatch(/^[0-9a-f]{32}$/);
});

test('past its time the answer is Token expired', async () => {
  const { clock, signer, verifier } = setUp();
  const token = await signer.sign(grant, clock.nowMs() + 60_000);

  await clock.advance(71_000);

  await expect(verifier.verify(token)).rejects.toMatchObject({
    kind: 'invalid_token',
    message: 'Token expired',
  });
});

test('a token of another key, a changed one and garbage are Invalid token', async () => {
  const { clock, signer, verifier } = setUp();
  const foreign = await createJoinTokenSigner(newPem(), clock).sign(grant, clock.nowMs() + 60_000);
  const [head, body, signature] = (await signer.sign(grant, clock.nowMs() + 60_000)).split('.');
  const claims = JSON.parse(Buffer.from(body ?? '', 'base64url').toString());
  const changed = Buffer.from(JSON.stringify({ ...claims, sid: 'ses_2' })).toString('base64url');

  for (const token of [foreign, `${head}.${changed}.${signature}`, 'garbage', '', `${head}.${body}.`]) {
    await expect(verifier.verify(token)).rejects.toMatchObject(invalid);
  }
});

test('a token signed with the public key as an HMAC secret is refused', async () => {
  const { clock, signer, verifier } = setUp();
  const nowS = Math.floor(clock.nowMs() / 1000);
  const token = await new SignJWT({ sid: 'ses_1', wid: 'w1' })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('parley')
    .setSubject('caller')
    .setNotBefore(nowS)
    .setExpirationTime(nowS + 60)
    .sign(Buffer.from(signer.publicPem));

  await expect(verifier.verify(token)).rejects.toMatchObject(invalid);
});

test('a token without a session is refused', async () => {
  const { clock, privatePem, verifier } = setUp();
  const { createPrivateKey } = await import('node:crypto');
  const nowS = Math.floor(clock.nowMs() / 1000);
  const token = await new SignJWT({ wid: 'w1' })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setIssuer('parley')
    .setSubject('caller')
    .setNotBefore(nowS)
    .setExpirationTime(nowS + 60)
    .sign(createPrivateKey(privatePem));

  await expect(verifier.verify(token)).rejects.toMatchObject(invalid);
});

test('a key that is not Ed25519 stops the start', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

  expect(() =>
    createJoinTokenSigner(rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
  ).toThrow('Ed25519');
});
