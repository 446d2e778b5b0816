import { newId } from '../../shared/ids.ts';
import { type Document, DuplicateKeyError, type Store } from '../storage/collection.ts';
import { type Delivery, newDelivery } from './webhook-delivery.ts';
import type { WebhookEndpoint, WebhookEventName } from './webhook-event.ts';

/** Everything that goes from one session to one endpoint, in one document, so that its order is one process's matter. */
export interface LaneDoc extends Document {
  readonly sessionId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  /** Place in the agent's list of endpoints, from 0. */
  readonly endpoint: number;
  readonly url: string;
  /** Signing key in stored form. */
  readonly secret: string | null;
  /** By `d<seq>`. */
  readonly deliveries: Readonly<Record<string, Delivery>>;
  /** Counts what was added from outside; a lane is only put down as it was read. */
  readonly revision: number;
  /** When it is to be looked at; null when nothing is pending. */
  readonly dueAtMs: number | null;
  /** Until then it belongs to whoever knows the token. */
  readonly leaseUntilMs: number;
  readonly leaseToken: string | null;
}

interface BodyDoc extends Document {
  readonly body: string;
}

/** Times a delivery may be sent again by hand. */
const MAX_RESENDS = 20;

export interface LaneStart {
  readonly sessionId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly endpoint: number;
  readonly target: WebhookEndpoint;
}

/** Deliveries (one lane per session and endpoint) and the bodies they send. */
export function createWebhookStore(store: Store) {
  const lanes = store.collection<LaneDoc>('webhook_lanes');
  const bodies = store.collection<BodyDoc>('webhook_bodies');

  /** Keeps an event's body; the first one written stands. */
  const addBody = (sessionId: string, seq: number, body: string) =>
    insertOnce(() => bodies.insertOne({ _id: `${sessionId}:${seq}`, body }));

  async function findBody(sessionId: string, seq: number): Promise<string | null> {
    return (await bodies.findOne({ _id: `${sessionId}:${seq}` }))?.body ?? null;
  }

  /** Adds an event to a lane. One that is in it already stays as it is. */
  async function append(
    start: LaneStart,
    seq: number,
    event: WebhookEventName,
    nowMs: number,
  ): Promise<void> {
    const { target, ...ids } = start;
    const _id = laneId(ids.sessionId, ids.endpoint);
    const delivery = newDelivery(seq, event, nowMs);
    const isNew = await insertOnce(() =>
      lanes.insertOne({
        _id,
        ...ids,
        url: target.url,
        secret: target.secret,
        deliveries: { [`d${seq}`]: delivery },
        revision: 1,
        dueAtMs: nowMs,
        leaseUntilMs: 0,
        leaseToken: null,
      }),
    );
    if (isNew) return;
    await lanes.updateOne(
      { _id, [`deliveries.d${seq}`]: { $exists: false } },
      { $set: { [`deliveries.d${seq}`]: delivery, dueAtMs: nowMs }, $inc: { revision: 1 } },
    );
  }

  /** The lane that is due longest and belongs to nobody, now held until `untilMs`. */
  const claim = (nowMs: number, untilMs: number) =>
    lanes.findOneAndUpdate(
      { dueAtMs: { $lte: nowMs }, leaseUntilMs: { $lte: nowMs } },
      { $set: { leaseToken: newId(), leaseUntilMs: untilMs, dueAtMs: untilMs } },
      { sort: { dueAtMs: 1 } },
    );

  /** Writes a delivery's state and holds the lane until `untilMs`; the lane as it is now, null when it was lost. */
  const save = (lane: LaneDoc, delivery: Delivery, untilMs: number) =>
    lanes.findOneAndUpdate(
      { _id: lane._id, leaseToken: lane.leaseToken },
      { $set: { [`deliveries.d${delivery.seq}`]: delivery, leaseUntilMs: untilMs, dueAtMs: untilMs } },
    );

  /**
   * Gives the lane up, to be looked at again at `dueAtMs` (null: when something is added), with `delivery` as the last
   * word on it if there is one. False when something was added meanwhile or the lane was lost: nothing was written.
   */
  async function putDown(
    lane: LaneDoc,
    dueAtMs: number | null,
    delivery: Delivery | null = null,
  ): Promise<boolean> {
    const matched = await lanes.updateOne(
      { _id: lane._id, leaseToken: lane.leaseToken, revision: lane.revision },
      {
        $set: {
          ...(delivery ? { [`deliveries.d${delivery.seq}`]: delivery } : {}),
          leaseToken: null,
          leaseUntilMs: 0,
          dueAtMs,
        },
      },
    );
    return matched === 1;
  }

  /** The lane as it is now; null when it was lost. */
  const readAgain = (lane: LaneDoc) => lanes.findOne({ _id: lane._id, leaseToken: lane.leaseToken });

  /** In the order of the endpoints. */
  const listOfSession = (sessionId: string, workspaceId: string) =>
    lanes.find({ ...keysOf(sessionId), workspaceId }, { sort: { _id: 1 } });

  const findLane = (sessionId: string, endpoint: number, workspaceId: string) =>
    lanes.findOne({ _id: laneId(sessionId, endpoint), workspaceId });

  /** Begins a new round of a settled delivery; the lane then, or null when it is pending or was sent too often. */
  const resend = (lane: LaneDoc, seq: number, nowMs: number) => {
    const path = `deliveries.d${seq}`;
    return lanes.findOneAndUpdate(
      {
        _id: lane._id,
        [`${path}.status`]: { $in: ['delivered', 'dropped'] },
        [`${path}.resends`]: { $lt: MAX_RESENDS },
      },
      {
        $set: {
          [`${path}.status`]: 'pending',
          [`${path}.failures`]: 0,
          [`${path}.dueAtMs`]: nowMs,
          dueAtMs: nowMs,
        },
        $inc: { [`${path}.resends`]: 1, revision: 1 },
      },
    );
  };

  /** Takes away everything of a session, sent or not. */
  async function removeOfSession(sessionId: string): Promise<void> {
    await lanes.deleteMany(keysOf(sessionId));
    await bodies.deleteMany(keysOf(sessionId));
  }

  const ensureIndexes = () => lanes.createIndex({ dueAtMs: 1 });

  return {
    addBody,
    findBody,
    append,
    claim,
    save,
    putDown,
    readAgain,
    listOfSession,
    findLane,
    resend,
    removeOfSession,
    ensureIndexes,
  };
}
export type WebhookStore = ReturnType<typeof createWebhookStore>;

function laneId(sessionId: string, endpoint: number): string {
  return `${sessionId}:${endpoint}`;
}

/** The ids that begin with the session's. */
function keysOf(sessionId: string) {
  return { _id: { $gte: `${sessionId}:`, $lt: `${sessionId};` } };
}

async function insertOnce(insert: () => Promise<void>): Promise<boolean> {
  try {
    await insert();
    return true;
  } catch (error) {
    if (error instanceof DuplicateKeyError) return false;
    throw error;
  }
}
