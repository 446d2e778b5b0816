import { Failure } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { requireBetaAccess } from '../http/beta-access.ts';
import type { KeyCaller } from '../http/route.ts';
import { readE164 } from './destination.ts';
import { claimNumber, type NumberPurchase, type NumberPurchaseDeps } from './number-purchase.ts';
import { toPhoneNumber } from './phone-number-reply.ts';
import type {
  AvailableNumbers,
  AvailableNumbersQuery,
  CreatePhoneNumberBody,
  ImportBody,
  PhoneNumber,
  PhoneNumberList,
  PhoneNumberListQuery,
  UpdatePhoneNumberBody,
} from './phone-number-schema.ts';
import type { PhoneNumberDoc } from './phone-number-store.ts';
import { type Sealer, type SipTrunk, toTrunk, trunkIssues } from './sip-trunk.ts';
import type { TrunkBody } from './sip-trunk-schema.ts';

export interface PhoneNumberServiceDeps extends Pick<NumberPurchaseDeps, 'numbers' | 'desk' | 'clock'> {
  readonly purchase: Pick<NumberPurchase, 'buy'>;
  /** True when the workspace has such an agent. */
  readonly hasAgent: (agentId: string, workspaceId: string) => Promise<boolean>;
  /** Why calls may not be sent to a host, or null. */
  readonly hostProblem: (hostAndPort: string) => string | null;
  readonly sealer: Sealer;
  readonly limits: { readonly numbersPerTeam: number };
}

/** Numbers shown by one search. */
const SEARCH_LIMIT = 30;

/** Phone numbers as callers see them. Another team's number and a released one answer like a missing one: 404. */
export function createPhoneNumberService(deps: PhoneNumberServiceDeps) {
  const { numbers, desk, clock, limits } = deps;

  async function search(query: AvailableNumbersQuery): Promise<AvailableNumbers> {
    if (query.number_type === 'toll_free') {
      throw new Failure('bad_request', 'Toll-free numbers are not supported');
    }
    const found = await desk.ask((carrier) =>
      carrier.searchNumbers({
        countryCode: query.country_code ?? 'US',
        areaCode: query.area_code ?? null,
        limit: SEARCH_LIMIT,
      }),
    );
    return {
      available_phone_numbers: found.map((number) => ({
        phone_number: number.phoneNumber,
        friendly_name: number.friendlyName,
        locality: number.locality,
        region: number.region,
        country_code: number.countryCode,
      })),
    };
  }

  async function create(body: CreatePhoneNumberBody, caller: KeyCaller): Promise<PhoneNumber> {
    requireBetaAccess(caller);
    await refuseUnknownAgent(body.agent_id, caller);
    const number = newNumber(body, caller.workspaceId, clock.nowMs());
    return body.provider === 'sip'
      ? importNumber(number, body)
      : toPhoneNumber(await deps.purchase.buy(number));
  }

  async function importNumber(number: PhoneNumberDoc, body: ImportBody): Promise<PhoneNumber> {
    const trunk = checkedTrunk(body, null, number._id);
    const imported = { ...number, provider: 'sip', status: 'active', trunk } as const;
    await claimNumber(numbers, imported, limits.numbersPerTeam);
    return toPhoneNumber(imported);
  }

  function checkedTrunk(body: TrunkBody, stored: SipTrunk | null, numberId: string): SipTrunk {
    const trunk = toTrunk(body, stored, numberId, deps.sealer);
    const issues = trunkIssues(body, trunk, deps.hostProblem);
    if (issues.length > 0) throw new Failure('unprocessable', 'Validation failed', { issues });
    return trunk;
  }

  async function refuseUnknownAgent(agentId: string | null | undefined, caller: KeyCaller): Promise<void> {
    if (agentId && !(await deps.hasAgent(agentId, caller.workspaceId))) {
      throw new Failure('not_found', 'Agent not found');
    }
  }

  async function find(id: string, caller: KeyCaller): Promise<PhoneNumberDoc> {
    return known(await numbers.find(id, caller.workspaceId));
  }

  async function list(query: PhoneNumberListQuery, caller: KeyCaller): Promise<PhoneNumberList> {
    const filter = {
      // A query string may have eaten the plus.
      ...(query.phone_number === undefined
        ? {}
        : { phoneNumber: `+${query.phone_number.trim().replace(/^\+/, '')}` }),
      ...(query.agent_id === undefined ? {} : { agentId: query.agent_id }),
    };
    const { rows, ...page } = await numbers.list(caller.workspaceId, filter, query);
    return { phone_numbers: rows.map(toPhoneNumber), ...page };
  }

  async function update(id: string, body: UpdatePhoneNumberBody, caller: KeyCaller): Promise<PhoneNumber> {
    await find(id, caller);
    await refuseUnknownAgent(body.agent_id, caller);
    const { label, agent_id, cold_transfer_use_original_caller } = body;
    const fields = {
      ...(label === undefined ? {} : { label }),
      ...(agent_id === undefined ? {} : { agentId: agent_id }),
      ...(cold_transfer_use_original_caller === undefined
        ? {}
        : { usesOriginalCaller: cold_transfer_use_original_caller }),
    };
    return toPhoneNumber(known(await numbers.update(id, caller.workspaceId, fields, clock.nowMs())));
  }

  async function putSipConfig(id: string, body: TrunkBody, caller: KeyCaller): Promise<PhoneNumber> {
    const number = await find(id, caller);
    if (number.provider !== 'sip') {
      throw new Failure('bad_request', 'Only imported numbers have a SIP configuration');
    }
    const trunk = checkedTrunk(body, number.trunk, id);
    return toPhoneNumber(known(await numbers.update(id, caller.workspaceId, { trunk }, clock.nowMs())));
  }

  /** Gives the number back. A carrier that refuses leaves it live, and it can be tried again. */
  async function release(id: string, caller: KeyCaller): Promise<void> {
    const number = await find(id, caller);
    if (number.status === 'provisioning') throw new Failure('conflict', 'Phone number is being bought');
    if (number.mayBeOurs) await desk.ask((carrier) => carrier.releaseNumber(number.phoneNumber));
    if (!(await numbers.release(id, caller.workspaceId, clock.nowMs()))) known(null);
  }

  return {
    search,
    create,
    list,
    update,
    putSipConfig,
    release,
    get: async (id: string, caller: KeyCaller): Promise<PhoneNumber> => toPhoneNumber(await find(id, caller)),
  };
}
export type PhoneNumberService = ReturnType<typeof createPhoneNumberService>;

function known(number: PhoneNumberDoc | null): PhoneNumberDoc {
  if (!number) throw new Failure('not_found', 'Phone number not found');
  return number;
}

/** A number that is being bought. */
function newNumber(body: CreatePhoneNumberBody, workspaceId: string, nowMs: number): PhoneNumberDoc {
  return {
    _id: newId(),
    workspaceId,
    phoneNumber: readE164(body.phone_number) ?? body.phone_number,
    provider: 'twilio',
    label: body.label ?? '',
    agentId: body.agent_id ?? null,
    status: 'provisioning',
    statusDetail: '',
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    usesOriginalCaller: false,
    trunk: null,
    rentalDay: null,
    refundDue: null,
    mayBeOurs: false,
  };
}
