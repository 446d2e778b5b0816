import { setMaxListeners } from 'node:events';
import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';
import { WorkLoop } from '../../shared/work-loop.ts';
import { HostLimits } from './host-limits.ts';
import { type Attempt, afterAttempt, type Delivery, nextPending } from './webhook-delivery.ts';
import { ATTEMPT_DEADLINE_MS, type WebhookSender } from './webhook-sender.ts';
import type { LaneDoc, WebhookStore } from './webhook-store.ts';

/** Lanes served at once by one process. */
const MAX_LANES = 500;
const REST_MS = 1_000;
/** A lease outlives the one attempt it is for by this much. A lane of a process that died waits as long at most. */
const LEASE_MS = ATTEMPT_DEADLINE_MS + 10_000;
/** Attempts under way when the process stops may still take this long; then they are cut off and made again. */
const STOP_GRACE_MS = 3_000;

export interface WebhookDispatcherDeps {
  readonly store: WebhookStore;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Sends what is pending. Any number of processes may run one. An attempt counts once it is written down; a process that
 * dies in between leaves its lanes to others, which make that attempt again: at least once, in order, never lost.
 */
export function createWebhookDispatcher(deps: WebhookDispatcherDeps) {
  const { store, sender, clock, log } = deps;
  const hosts = new HostLimits(clock);
  const cutOff = new AbortController();

  const loop = new WorkLoop<LaneDoc>(
    { name: 'webhook deliveries', claim, run: serve, maxAtOnce: MAX_LANES, restMs: REST_MS },
    { clock, log },
  );

  function claim(): Promise<LaneDoc | null> {
    const nowMs = clock.nowMs();
    return store.claim(nowMs, nowMs + LEASE_MS);
  }

  /** One turn of a lane: everything pending, or nothing while its host has its share. */
  async function serve(lane: LaneDoc, stopping: AbortSignal): Promise<void> {
    const { host } = new URL(lane.url);
    const againAtMs = hosts.enter(host);
    if (againAtMs !== null) {
      await store.putDown(lane, againAtMs);
      return;
    }
    const startMs = clock.monotonicMs();
    let isFailing = true;
    try {
      isFailing = await work(lane, stopping);
    } finally {
      hosts.leave(host, isFailing, clock.monotonicMs() - startMs);
    }
  }

  /** True when the last attempt failed. */
  async function work(claimed: LaneDoc, stopping: AbortSignal): Promise<boolean> {
    let isFailing = false;
    let lane: LaneDoc | null = claimed;
    while (lane) {
      const delivery = nextPending(Object.values(lane.deliveries));
      if (!delivery) {
        if (await store.putDown(lane, null)) return isFailing;
        lane = await store.readAgain(lane);
        continue;
      }
      await clock.sleep(Math.max(0, delivery.dueAtMs - clock.nowMs()), stopping);
      const attempt = stopping.aborted ? null : await tryOnce(lane, delivery);
      if (!attempt) {
        await store.putDown(lane, delivery.dueAtMs);
        return isFailing;
      }
      const after = afterAttempt(delivery, attempt, clock.nowMs());
      isFailing = after.status !== 'delivered';
      if (after.status === 'dropped') report(lane, after, attempt);
      lane = await writeDown(lane, after);
    }
    return isFailing;
  }

  /** The lane to go on with; null when nothing is pending in it any more, or it was lost. */
  async function writeDown(lane: LaneDoc, after: Delivery): Promise<LaneDoc | null> {
    const rest = Object.values(lane.deliveries).filter(({ seq }) => seq !== after.seq);
    const isLast = after.status !== 'pending' && nextPending(rest) === null;
    if (isLast && (await store.putDown(lane, null, after))) return null;
    const holdUntilMs = Math.max(clock.nowMs(), after.status === 'pending' ? after.dueAtMs : 0) + LEASE_MS;
    return store.save(lane, after, holdUntilMs);
  }

  /** Null when the process stops first. */
  async function tryOnce(lane: LaneDoc, delivery: Delivery): Promise<Attempt | null> {
    const failed = (error: string): Attempt => ({
      sentAtMs: clock.nowMs(),
      latencyMs: 0,
      statusCode: null,
      excerpt: null,
      error,
    });
    const body = await store.findBody(lane.sessionId, delivery.seq);
    if (body === null) return failed('Body is gone');
    try {
      return await sender.send(lane, Buffer.from(body), cutOff.signal);
    } catch (err) {
      log.error({ err, sessionId: lane.sessionId }, 'a webhook could not be signed or sent; see its error');
      return failed('Request could not be made');
    }
  }

  function report(lane: LaneDoc, { event, attempts }: Delivery, attempt: Attempt): void {
    const { sessionId, endpoint } = lane;
    const { statusCode, error } = attempt;
    log.warn({ sessionId, endpoint, event, attempts: attempts.length, statusCode, error }, 'webhook dropped');
  }

  /** Works until `stopping` aborts, and a little longer for attempts under way. */
  async function run(stopping: AbortSignal): Promise<void> {
    const done = new AbortController();
    // Each lane listens to both.
    setMaxListeners(0, stopping, cutOff.signal);
    const onStop = () => {
      void clock.sleep(STOP_GRACE_MS, done.signal).then(() => cutOff.abort());
    };
    stopping.addEventListener('abort', onStop, { once: true });
    await loop.run(stopping);
    done.abort();
  }

  return { run, poke: () => loop.poke() };
}
