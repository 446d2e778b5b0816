import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { Failure, type FailureKind } from '../../shared/errors.ts';
import {
  ControlServiceClient,
  type ResolveVoiceResponse,
  type SpeechUsage,
} from '../../shared/generated/parley/v1/control.ts';
import { type Clock, withDeadline } from '../../shared/time.ts';
import {
  type ControlAddress,
  channelOptions,
  type LinkCertificates,
  linkCredentials,
} from './link-credentials.ts';

const CALL_DEADLINE_MS = 2_000;
const LIST_DEADLINE_MS = 2_000;
const RETRY_AFTER_S = 1;

export interface KeyOwner {
  readonly workspaceId: string;
  readonly userId: string;
  readonly keyId: string;
  /** The balance that pays for the workspace is zero or below. */
  readonly isOutOfCredit: boolean;
}

export interface ControlCallsDeps {
  readonly listAddresses: () => Promise<readonly ControlAddress[]>;
  readonly certificates: LinkCertificates | null;
  readonly clock: Clock;
}

/** The worker's questions to the control plane: any replica may answer, the next one is asked when one doesn't. */
export function createControlCalls(deps: ControlCallsDeps) {
  const clients = new Map<string, ControlServiceClient>();

  function clientOf(address: ControlAddress): ControlServiceClient {
    const known = clients.get(address.target);
    if (known) return known;
    const client = new ControlServiceClient(
      address.target,
      linkCredentials(deps.certificates),
      channelOptions(address),
    );
    clients.set(address.target, client);
    return client;
  }

  async function currentAddresses(): Promise<readonly ControlAddress[]> {
    const listed = withDeadline(deps.clock, 'list of control planes', LIST_DEADLINE_MS, deps.listAddresses());
    const addresses = await listed.catch(() => []);
    const wanted = new Set(addresses.map((address) => address.target));
    for (const [target, client] of clients) {
      if (addresses.length === 0 || wanted.has(target)) continue;
      client.close();
      clients.delete(target);
    }
    return addresses;
  }

  /**
   * Asks one replica after the other. `refusals` are the codes that are an answer; they become `Failure`s with the
   * control plane's own words. Throws `Failure` `unavailable` when nobody answers.
   */
  async function ask<T>(refusals: Readonly<Partial<Record<status, FailureKind>>>, call: Call<T>): Promise<T> {
    for (const address of await currentAddresses()) {
      try {
        return await call(clientOf(address), { deadline: deps.clock.nowMs() + CALL_DEADLINE_MS });
      } catch (error) {
        const kind = isServiceError(error) ? refusals[error.code] : undefined;
        if (isServiceError(error) && kind) throw new Failure(kind, error.details, { cause: error });
      }
    }
    throw new Failure('unavailable', 'Service is briefly unavailable', { retryAfterS: RETRY_AFTER_S });
  }

  /** Whose key it is. Throws `Failure`: `invalid_token` with a readable message, or `unavailable`. */
  function authenticateKey(apiKey: string): Promise<KeyOwner> {
    return ask({ [status.UNAUTHENTICATED]: 'invalid_token' }, (client, options) =>
      unary((done) => client.authenticateKey({ apiKey }, new Metadata(), options, done)),
    );
  }

  /** The voice a reference names for the workspace, or null. Throws `Failure` `unavailable`. */
  async function resolveVoice(voiceId: string, workspaceId: string): Promise<ResolveVoiceResponse | null> {
    const request = { voiceId, workspaceId };
    try {
      return await ask({ [status.NOT_FOUND]: 'not_found' }, (client, options) =>
        unary((done) => client.resolveVoice(request, new Metadata(), options, done)),
      );
    } catch (error) {
      if (error instanceof Failure && error.kind === 'not_found') return null;
      throw error;
    }
  }

  /** Resolves when the usage is settled. Throws `Failure` `unavailable`; it may be reported again. */
  async function reportUsage(usage: readonly SpeechUsage[]): Promise<void> {
    const request = { usage: [...usage] };
    await ask({}, (client, options) =>
      unary((done) => client.reportUsage(request, new Metadata(), options, done)),
    );
  }

  function close(): void {
    for (const client of clients.values()) client.close();
    clients.clear();
  }

  return { authenticateKey, resolveVoice, reportUsage, close };
}
export type ControlCalls = ReturnType<typeof createControlCalls>;

type Call<T> = (client: ControlServiceClient, options: { deadline: number }) => Promise<T>;

function unary<T>(send: (done: (error: ServiceError | null, response: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    send((error, response) => {
      if (error) reject(error);
      else resolve(response);
    });
  });
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'details' in error;
}
