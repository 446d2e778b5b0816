import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A Lua script that the server runs without anything in between: what makes an operation atomic. */
export class RedisScript {
  readonly #source: string;
  readonly #sha1: string;

  constructor(source: string) {
    this.#source = source;
    this.#sha1 = createHash('sha1').update(source).digest('hex');
  }

  /** Sends the digest alone; the source only to a server that doesn't know it (yet, or any more). */
  async run(redis: Redis, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await redis.evalsha(this.#sha1, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.eval(this.#source, keys.length, ...keys, ...args);
    }
  }
}
