import { Failure } from '../../shared/errors.ts';
import { type Clock, withDeadline } from '../../shared/time.ts';
import { type Carrier, CarrierRefused, CarrierUnreachable } from './carrier.ts';

const MAX_MESSAGE_CHARS = 200;
const RETRY_AFTER_S = 1;

/** Past this nobody waits for the carrier; what it did is unknown then. */
const DEADLINE_MS = 10_000;

/**
 * Asks the carrier and says in the API's words what went wrong: 502 when it refused or did not answer in time, 503 when
 * it wasn't reached or there is none.
 */
export function createCarrierDesk(deps: { readonly carrier: Carrier | null; readonly clock: Clock }) {
  const { clock } = deps;

  /** Throws `Failure` 503 where no carrier is set up. */
  function carrier(): Carrier {
    if (deps.carrier) return deps.carrier;
    throw new Failure('unavailable', 'No telephony provider is set up on this server');
  }

  async function ask<T>(request: (carrier: Carrier) => Promise<T>): Promise<T> {
    const asked = carrier();
    try {
      return await withDeadline(clock, asked.name, DEADLINE_MS, request(asked));
    } catch (cause) {
      if (cause instanceof CarrierRefused) {
        const message = cause.message.slice(0, MAX_MESSAGE_CHARS);
        throw new Failure('upstream_failed', `${asked.name} refused the request: ${message}`, { cause });
      }
      if (cause instanceof CarrierUnreachable) {
        throw new Failure('unavailable', `${asked.name} can't be reached`, {
          retryAfterS: RETRY_AFTER_S,
          cause,
        });
      }
      throw new Failure('upstream_failed', `${asked.name} did not answer`, { cause });
    }
  }
  return { carrier, ask };
}
export type CarrierDesk = ReturnType<typeof createCarrierDesk>;

/** True when the request certainly had no effect. */
export function isWithoutEffect(error: unknown): boolean {
  if (!(error instanceof Failure)) return false;
  return error.cause instanceof CarrierRefused || error.cause instanceof CarrierUnreachable;
}
