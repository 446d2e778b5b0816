import type { CursorSigner } from '../http/cursor-signer.ts';
import { type PageQuery, paginate } from '../http/pagination.ts';
import { type Document, DuplicateKeyError, type Store } from '../storage/collection.ts';
import type { PhoneProvider } from './carrier.ts';
import type { SipTrunk } from './sip-trunk.ts';
import { freeSlot } from './slots.ts';

export type PhoneNumberStatus = 'provisioning' | 'active' | 'error' | 'released';

export interface PhoneNumberDoc extends Document {
  readonly workspaceId: string;
  /** E.164. */
  readonly phoneNumber: string;
  readonly provider: PhoneProvider;
  readonly label: string;
  readonly agentId: string | null;
  readonly status: PhoneNumberStatus;
  readonly statusDetail: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly usesOriginalCaller: boolean;
  /** Null for a number that was bought. */
  readonly trunk: SipTrunk | null;
  /** The last UTC day whose rental has been taken (`2026-01-31`); null for a number that isn't rented. */
  readonly rentalDay: string | null;
  /** The first day's charge, as long as it is to be given back. */
  readonly refundDue: string | null;
  /** The carrier may have given us this number. */
  readonly mayBeOurs: boolean;
  /** The number itself while nobody else may have it; unique. */
  readonly heldNumber?: string;
  /** One of the team's places for live numbers; unique. */
  readonly slotKey?: string;
}

export type PhoneNumberFields = Partial<
  Pick<PhoneNumberDoc, 'label' | 'agentId' | 'usesOriginalCaller' | 'trunk'>
>;

const LIVE_LIMIT = 1_000;

/** Phone numbers. Every read by a caller is scoped to a workspace, and released numbers don't exist. */
export function createPhoneNumberStore(store: Store, cursors: CursorSigner) {
  const numbers = store.collection<PhoneNumberDoc>('phone_numbers');
  const ofCaller = (id: string, workspaceId: string) => ({
    _id: id,
    workspaceId,
    status: { $ne: 'released' },
  });

  /** Takes the number and one of the team's `limit` places with the new row, or says what is taken already. */
  async function claim(doc: PhoneNumberDoc, limit: number): Promise<'claimed' | 'full' | 'held'> {
    const { workspaceId, phoneNumber } = doc;
    // Each failed try means that somebody else took a place or the number.
    for (let tries = 0; tries <= limit * 2; tries++) {
      const live = await numbers.find({ workspaceId, slotKey: { $exists: true } }, { limit: LIVE_LIMIT });
      const slotKey = freeSlot(
        workspaceId,
        live.map((number) => number.slotKey),
        limit,
      );
      if (slotKey === null) return 'full';
      if (await numbers.findOne({ heldNumber: phoneNumber })) return 'held';
      try {
        await numbers.insertOne({ ...doc, heldNumber: phoneNumber, slotKey });
        return 'claimed';
      } catch (error) {
        if (!(error instanceof DuplicateKeyError)) throw error;
      }
    }
    throw new Error('no place was found for a phone number while others came and went');
  }

  /** Newest first. */
  const list = (workspaceId: string, query: { phoneNumber?: string; agentId?: string }, page: PageQuery) =>
    paginate({
      collection: numbers,
      filter: { workspaceId, status: { $ne: 'released' }, ...query },
      sort: { workspaceId: -1, createdAtMs: -1, _id: -1 },
      query: page,
      signer: cursors,
      scope: `phone-numbers:${workspaceId}`,
    });

  /** The number after the change, or null when there is none. */
  const update = (id: string, workspaceId: string, fields: PhoneNumberFields, nowMs: number) =>
    numbers.findOneAndUpdate(ofCaller(id, workspaceId), { $set: { ...fields, updatedAtMs: nowMs } });

  /** Null when the purchase was given up meanwhile. */
  const activate = (id: string, nowMs: number) =>
    numbers.findOneAndUpdate(
      { _id: id, status: 'provisioning' },
      { $set: { status: 'active', updatedAtMs: nowMs } },
    );

  /** Ends a purchase that failed: nothing is rented, the charge is due back. False when it had ended before. */
  const fail = async (
    id: string,
    end: { detail: string; refundDue: string; mayBeOurs: boolean },
    nowMs: number,
  ): Promise<boolean> => {
    const { detail: statusDetail, ...fields } = end;
    const failed = await numbers.updateOne(
      { _id: id, status: 'provisioning' },
      {
        $set: { ...fields, status: 'error', statusDetail, rentalDay: null, updatedAtMs: nowMs },
        // A number that may be ours after all is kept from others until it is released.
        $unset: { slotKey: '', ...(end.mayBeOurs ? {} : { heldNumber: '' }) },
      },
    );
    return failed > 0;
  };

  /** False when there is none. */
  const release = async (id: string, workspaceId: string, nowMs: number): Promise<boolean> =>
    (await numbers.updateOne(ofCaller(id, workspaceId), {
      $set: {
        status: 'released',
        statusDetail: '',
        agentId: null,
        trunk: null,
        rentalDay: null,
        mayBeOurs: false,
        updatedAtMs: nowMs,
      },
      $unset: { slotKey: '', heldNumber: '' },
    })) > 0;

  return {
    claim,
    list,
    update,
    activate,
    fail,
    release,
    find: (id: string, workspaceId: string) => numbers.findOne(ofCaller(id, workspaceId)),
    /** The live number, whoever holds it. */
    findHeld: (phoneNumber: string) => numbers.findOne({ heldNumber: phoneNumber }),
    /** A row whose purchase was refused for want of credit. */
    remove: (id: string) => numbers.deleteOne({ _id: id, status: 'provisioning' }),
    listUnfinished: (createdBeforeMs: number, limit: number) =>
      numbers.find({ status: 'provisioning', createdAtMs: { $lt: createdBeforeMs } }, { limit }),
    listRefundDue: (limit: number) => numbers.find({ refundDue: { $gt: '' } }, { limit }),
    clearRefund: (id: string) => numbers.updateOne({ _id: id }, { $set: { refundDue: null } }),
    /** Rented numbers whose rental of `day` isn't taken, by id after `afterId`. */
    listRentDue: (day: string, afterId: string, limit: number) =>
      numbers.find(
        { _id: { $gt: afterId }, status: 'active', rentalDay: { $lt: day } },
        { sort: { _id: 1 }, limit },
      ),
    /** `rentalDay` null: the day is still to be taken. */
    noteRental: (id: string, rentalDay: string | null, statusDetail: string) =>
      numbers.updateOne(
        { _id: id, status: 'active' },
        { $set: { statusDetail, ...(rentalDay === null ? {} : { rentalDay }) } },
      ),
    async ensureIndexes(): Promise<void> {
      await numbers.createIndex({ workspaceId: 1, createdAtMs: 1, _id: 1 });
      await numbers.createIndex({ status: 1, createdAtMs: 1 });
      await numbers.createIndex({ refundDue: 1 });
      await numbers.createIndex({ heldNumber: 1 }, { unique: true, sparse: true });
      await numbers.createIndex({ slotKey: 1 }, { unique: true, sparse: true });
    },
  };
}
export type PhoneNumberStore = ReturnType<typeof createPhoneNumberStore>;
