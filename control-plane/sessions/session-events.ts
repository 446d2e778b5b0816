import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Ended, SessionEvent } from '../../shared/generated/parley/v1/worker_link.ts';
import type { Logger } from '../../shared/log.ts';
import { TimelineItem, TOOL_OUTPUT_MAX_BYTES } from '../../shared/session-timeline.ts';
import type { SessionItemStore } from './session-item-store.ts';
import { isEndReason } from './session-state.ts';
import type { SessionDoc, SessionStore } from './session-store.ts';
import type { SessionTransitions } from './session-transitions.ts';

/** Past this many events of one session only its end is still taken: a worker gone wild can't fill the store. */
const MAX_SEQUENCE = 100_000;
/** Engine log and metrics kept per session; what comes after is dropped. An hour's call makes about 1 MB. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;

export interface SessionEventsDeps {
  readonly sessions: SessionStore;
  readonly items: SessionItemStore;
  readonly transitions: SessionTransitions;
  /** Hangs up on the worker; false when no worker holds the session. */
  readonly endOnWorker: (sessionId: string, endReason: string) => Promise<boolean>;
  readonly log: Logger;
}

const isTimelineItem = new Ajv2020({ strict: true, strictTypes: false }).compile<TimelineItem>(TimelineItem);

/** Writes into the records what workers report. */
export function createSessionEvents(deps: SessionEventsDeps) {
  const { sessions, items, transitions, log } = deps;

  /**
   * Resolves when the event is stored, or was before, or never can be; rejects when the store didn't answer. Applying
   * the same (session, sequence) again changes nothing.
   */
  async function apply(workerId: string, event: SessionEvent): Promise<void> {
    const { sessionId, event: reported } = event;
    if (!reported) return;
    if (reported.$case === 'joined') {
      const moved = await transitions.move(sessionId, { type: 'joined', atMs: event.atMs }, workerId);
      if (!moved) log.warn({ sessionId, workerId }, 'a worker reported a session that has no record');
      return;
    }
    const session = await sessions.findAnywhere(sessionId);
    if (!session) return log.warn({ sessionId, workerId }, 'a worker reported a session that has no record');
    if (reported.$case === 'ended') return applyEnd(session, workerId, reported.value);
    if (session.status === 'unknown') await transitions.move(sessionId, { type: 'sign_of_life' }, workerId);
    if (event.sequence > MAX_SEQUENCE) return;
    switch (reported.$case) {
      case 'timelineItem':
        return addItem(sessionId, event.sequence, reported.value.itemJson);
      case 'decisionLog':
        return addLog(session, event, 'decision_log', Buffer.from(reported.value.lines).toString('utf8'));
      case 'turnMetrics':
        return addLog(session, event, 'turn_metrics', reported.value.metricsJson);
    }
  }

  async function applyEnd(session: SessionDoc, workerId: string, ended: Ended): Promise<void> {
    const { endReason: reason } = ended;
    if (!isEndReason(reason)) {
      log.error(
        { sessionId: session._id, workerId, reason },
        'a worker gave a reason to end that is not known',
      );
    }
    const moved = await transitions.move(
      session._id,
      {
        type: 'ended',
        endReason: isEndReason(reason) ? reason : 'internal_error',
        startedAtMs: ended.startedAtMs > 0 ? ended.startedAtMs : null,
        endedAtMs: ended.endedAtMs,
      },
      workerId,
    );
    // The end was stored before, but the process died or the wallet failed before it was paid.
    if (moved && session.moneyDue !== null) await transitions.pay(moved);
  }

  async function addItem(sessionId: string, seq: number, itemJson: string): Promise<void> {
    const item = readItem(itemJson);
    if (item) await items.addItem(sessionId, seq, item);
    else log.error({ sessionId, seq }, 'a timeline item breaks its schema and was dropped');
  }

  async function addLog(
    session: SessionDoc,
    event: SessionEvent,
    kind: 'decision_log' | 'turn_metrics',
    text: string,
  ): Promise<void> {
    const bytes = Buffer.byteLength(text);
    if (session.logBytes + bytes > MAX_LOG_BYTES) return;
    const { sessionId, sequence: seq, atMs } = event;
    if (await items.addLog({ sessionId, seq, kind, atMs, text }))
      await sessions.addLogBytes(sessionId, bytes);
  }

  /**
   * A worker's link came up, and these are its sessions: those whose fate was unknown are active again, and those
   * that were given up meanwhile are hung up.
   */
  async function workerLinked(sessionIds: readonly string[]): Promise<void> {
    for (const sessionId of sessionIds) {
      const session = await transitions.move(sessionId, { type: 'sign_of_life' });
      if (session?.status !== 'completed' && session?.status !== 'failed') continue;
      await deps.endOnWorker(sessionId, session.endReason ?? 'internal_error').catch((err) => {
        log.warn({ err, sessionId }, 'a worker holds an ended session and could not be told');
      });
    }
  }

  return { apply, workerLinked };
}

/** The item with a tool's output cut to what is kept; null when it isn't one. */
function readItem(itemJson: string): TimelineItem | null {
  let item: unknown;
  try {
    item = JSON.parse(itemJson);
  } catch {
    return null;
  }
  if (!isTimelineItem(item)) return null;
  if (item.type !== 'tool_result') return item;
  const output = cut(item.output);
  return {
    ...item,
    output,
    output_truncated: item.output_truncated || output !== item.output,
    error: cut(item.error),
  };
}

/** The longest beginning of whole characters that fits. */
function cut(text: string | null): string | null {
  if (text === null || Buffer.byteLength(text) <= TOOL_OUTPUT_MAX_BYTES) return text;
  const bytes = new Uint8Array(TOOL_OUTPUT_MAX_BYTES);
  const { read } = new TextEncoder().encodeInto(text, bytes);
  return text.slice(0, read);
}
