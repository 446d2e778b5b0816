import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { Failure } from './errors.ts';
import { type Clock, systemClock } from './time.ts';

/** What a join token opens: one session, on one worker, for one participant. */
export interface JoinGrant {
  readonly sessionId: string;
  readonly workerId: string;
  /** Participant identity (`sub`), such as `caller`. */
  readonly identity: string;
  /** Display name; empty when there is none. */
  readonly name: string;
}

/** Clocks of the hosts may differ by this much. */
const CLOCK_TOLERANCE_S = 10;
const ISSUER = 'parley';

/**
 * Signs join tokens: a JWT (RFC 7519, EdDSA of RFC 8037) with the claims of a LiveKit access token, so that any LiveKit
 * client SDK takes it, plus `sid` (session) and `wid` (worker). `privatePem` is an Ed25519 key in PKCS #8; throws when
 * it isn't.
 */
export function createJoinTokenSigner(privatePem: string, clock: Clock = systemClock) {
  const key = createPrivateKey(privatePem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the join key must be an Ed25519 key');

  /** `expiresAtMs`: when the token stops opening the session; the join deadline itself is kept by the session. */
  async function sign(grant: JoinGrant, expiresAtMs: number): Promise<string> {
    const nowS = Math.floor(clock.nowMs() / 1000);
    return new SignJWT({
      name: grant.name,
      video: {
        room: grant.sessionId,
        roomJoin: true,
        canPublish: true,
        canSubscribe: true,
        canPublishData: true,
      },
      sid: grant.sessionId,
      wid: grant.workerId,
    })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
      .setIssuer(ISSUER)
      .setSubject(grant.identity)
      .setIssuedAt(nowS)
      .setNotBefore(nowS - CLOCK_TOLERANCE_S)
      .setExpirationTime(Math.ceil(expiresAtMs / 1000))
      .setJti(randomBytes(16).toString('hex'))
      .sign(key);
  }
  return { sign, publicPem: joinPublicPem(privatePem) };
}

/** Checks join tokens with the public key alone (SPKI PEM). */
export function createJoinTokenVerifier(publicPem: string, clock: Clock = systemClock) {
  const key = createPublicKey(publicPem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the join key must be an Ed25519 key');

  /** Throws `Failure` invalid_token: `Token expired` for a good token past its time, else `Invalid token`. */
  async function verify(token: string): Promise<JoinGrant & { readonly expiresAtMs: number }> {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: ['EdDSA'],
        issuer: ISSUER,
        currentDate: new Date(clock.nowMs()),
        clockTolerance: CLOCK_TOLERANCE_S,
        requiredClaims: ['exp', 'nbf', 'sub', 'sid', 'wid'],
      });
      const { sid, wid, sub, name, exp } = payload;
      if (typeof sid !== 'string' || typeof wid !== 'string' || !sub || !exp) {
        throw new Failure('invalid_token', 'Invalid token');
      }
      return {
        sessionId: sid,
        workerId: wid,
        identity: sub,
        name: typeof name === 'string' ? name : '',
        expiresAtMs: exp * 1000,
      };
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      const isExpired = cause instanceof errors.JWTExpired;
      throw new Failure('invalid_token', isExpired ? 'Token expired' : 'Invalid token', { cause });
    }
  }
  return { verify };
}

/** The public half (SPKI PEM) of a private join key: all a worker needs. */
export function joinPublicPem(privatePem: string): string {
  return createPublicKey(privatePem).export({ type: 'spki', format: 'pem' }).toString();
}
