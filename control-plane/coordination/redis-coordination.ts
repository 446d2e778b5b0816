import { once } from 'node:events';
import { Redis } from 'ioredis';
import type { Logger } from '../../shared/log.ts';
import { type Clock, systemClock, withDeadline } from '../../shared/time.ts';
import { type Coordination, CoordinationUnavailable, type WorkerStatus } from './coordination.ts';
import type { RedisScript } from './redis-script.ts';
import {
  HEARTBEAT,
  HIT,
  LIVE_WORKERS,
  LOCATE,
  RELEASE_SLOT,
  REMOVE_WORKER,
  RESERVE_SLOT,
} from './redis-scripts.ts';

const OPERATION_LIMIT_MS = 900;
const COMMAND_LIMIT_MS = 500;
// A server that keeps its socket open but says nothing is left for a new connection.
const SILENCE_LIMIT_MS = 1_000;
const MAX_RECONNECT_PAUSE_MS = 1_000;

interface RedisCoordinationOptions {
  /** `redis://` or `rediss://`, with credentials where the server wants them. */
  readonly url: string;
  /** Keeps installations apart that share a server; `parley` unless given. No braces. */
  readonly prefix?: string;
  readonly log: Logger;
  readonly clock?: Clock;
}

/** Connects. Throws `CoordinationUnavailable` when Redis (7 or newer) doesn't answer within 1 s. */
export async function openRedisCoordination(options: RedisCoordinationOptions): Promise<Coordination> {
  const { url, prefix = 'parley', log, clock = systemClock } = options;
  const redis = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    // What was not answered is reported as failed, so it must not happen later.
    autoResendUnfulfilledCommands: false,
    connectTimeout: SILENCE_LIMIT_MS,
    commandTimeout: COMMAND_LIMIT_MS,
    socketTimeout: SILENCE_LIMIT_MS,
    retryStrategy: (tries) => Math.min(tries * 50, MAX_RECONNECT_PAUSE_MS),
  });
  // Without a listener the client prints to the console itself.
  redis.on('error', (error: Error) => log.debug({ reason: error.message }, 'redis connection failed'));
  redis.on('end', () => log.debug({}, 'redis connection ended'));
  const coordination = new RedisCoordination(redis, `{${prefix}}`, clock);
  try {
    await withDeadline(clock, 'Redis', OPERATION_LIMIT_MS, redis.connect());
  } catch (error) {
    await coordination.close();
    throw new CoordinationUnavailable(error);
  }
  let isDown = false;
  redis.on('close', () => {
    if (!isDown) log.warn({}, 'redis is away; reconnecting');
    isDown = true;
  });
  redis.on('ready', () => {
    isDown = false;
    log.info({}, 'redis is back');
  });
  return coordination;
}

/** Coordination in Redis: one script for each operation, the server's clock for every time. */
class RedisCoordination implements Coordination {
  readonly #redis: Redis;
  readonly #root: string;
  readonly #clock: Clock;

  constructor(redis: Redis, root: string, clock: Clock) {
    this.#redis = redis;
    this.#root = root;
    this.#clock = clock;
  }

  async heartbeat(status: WorkerStatus, controlPlaneId: string, ttlMs: number): Promise<void> {
    const { sessionIds, ...rest } = status;
    const draining = status.isDraining ? 1 : 0;
    const numbers = [status.capacity, status.occupied, draining];
    const json = JSON.stringify(rest);
    await this.#run(HEARTBEAT, [status.workerId, json, ...numbers, controlPlaneId, ttlMs, ...sessionIds]);
  }

  async removeWorker(workerId: string): Promise<void> {
    await this.#run(REMOVE_WORKER, [workerId]);
  }

  async liveWorkers(): Promise<(WorkerStatus & { readonly controlPlaneId: string })[]> {
    // The shape is what the script returns.
    const rows = (await this.#run(LIVE_WORKERS, [])) as [string, number, string, string[]][];
    return rows.map(([json, occupied, controlPlaneId, sessionIds]) => {
      const status: WorkerStatus = JSON.parse(json);
      return { ...status, occupied, sessionIds, controlPlaneId };
    });
  }

  async reserveSlot(workerId: string, sessionId: string, ttlMs: number): Promise<boolean> {
    return (await this.#run(RESERVE_SLOT, [workerId, sessionId, ttlMs])) === 1;
  }

  async releaseSlot(workerId: string, sessionId: string): Promise<void> {
    await this.#run(RELEASE_SLOT, [workerId, sessionId]);
  }

  async locate(
    sessionId: string,
  ): Promise<{ readonly workerId: string; readonly controlPlaneId: string } | null> {
    const found = (await this.#run(LOCATE, [sessionId])) as [string, string] | null;
    return found && { workerId: found[0], controlPlaneId: found[1] };
  }

  async hit(key: string, limit: number, windowMs: number): Promise<boolean> {
    return Number(await this.#run(HIT, [key, windowMs])) <= limit;
  }

  async ping(): Promise<void> {
    await this.#answer(this.#redis.ping());
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
    if (this.#redis.status === 'end') return;
    const tooLate = AbortSignal.timeout(OPERATION_LIMIT_MS);
    await once(this.#redis, 'end', { signal: tooLate }).catch(() => {});
  }

  #run(script: RedisScript, args: readonly (string | number)[]): Promise<unknown> {
    return this.#answer(script.run(this.#redis, [this.#root], args));
  }

  async #answer<T>(work: Promise<T>): Promise<T> {
    try {
      return await withDeadline(this.#clock, 'Redis', OPERATION_LIMIT_MS, work);
    } catch (error) {
      throw new CoordinationUnavailable(error);
    }
  }
}
