import { type AnyRoute, route } from '../http/route.ts';
import {
  AvailableNumbers,
  AvailableNumbersQuery,
  CreatePhoneNumberBody,
  PhoneNumber,
  PhoneNumberList,
  PhoneNumberListQuery,
  PhoneNumberPath,
  UpdatePhoneNumberBody,
} from './phone-number-schema.ts';
import type { PhoneNumberService } from './phone-number-service.ts';
import { TrunkBody } from './sip-trunk-schema.ts';

const NUMBERS = '/v1/agent/phone-numbers';
const NUMBER = `${NUMBERS}/{phone_number_id}`;

/** The endpoints of phone numbers. */
export function phoneNumberRoutes(numbers: PhoneNumberService): AnyRoute[] {
  return [...marketRoutes(numbers), ...recordRoutes(numbers)];
}

function marketRoutes(numbers: PhoneNumberService): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: '/v1/agent/available-phone-numbers',
      access: 'api_key',
      summary: 'Search numbers that can be rented',
      tag: 'phone numbers',
      query: AvailableNumbersQuery,
      refusals: ['bad_request', 'upstream_failed'],
      reply: { status: 200, schema: AvailableNumbers },
      handle: ({ query }) => numbers.search(query),
    }),
    route({
      method: 'POST',
      path: NUMBERS,
      access: 'api_key',
      summary: 'Rent a number, or import one on your own SIP trunk',
      description:
        'Renting charges the first day up front. When the provider refuses, the charge is given back and the number ' +
        'stays visible with status `error` until it is released.',
      tag: 'phone numbers',
      body: CreatePhoneNumberBody,
      refusals: ['out_of_credit', 'forbidden', 'not_found', 'conflict', 'upstream_failed'],
      reply: { status: 201, schema: PhoneNumber },
      handle: ({ body, caller }) => numbers.create(body, caller),
    }),
    route({
      method: 'DELETE',
      path: NUMBER,
      access: 'api_key',
      summary: 'Release a number',
      description: 'When the provider refuses, the number stays live and can be released again.',
      tag: 'phone numbers',
      params: PhoneNumberPath,
      refusals: ['conflict', 'upstream_failed'],
      reply: { status: 204 },
      handle: async ({ params, caller }) => {
        await numbers.release(params.phone_number_id, caller);
        return undefined;
      },
    }),
  ];
}

function recordRoutes(numbers: PhoneNumberService): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: NUMBERS,
      access: 'api_key',
      summary: 'List phone numbers, newest first',
      tag: 'phone numbers',
      query: PhoneNumberListQuery,
      reply: { status: 200, schema: PhoneNumberList },
      handle: ({ query, caller }) => numbers.list(query, caller),
    }),
    route({
      method: 'GET',
      path: NUMBER,
      access: 'api_key',
      summary: 'Read a phone number',
      tag: 'phone numbers',
      params: PhoneNumberPath,
      reply: { status: 200, schema: PhoneNumber },
      handle: ({ params, caller }) => numbers.get(params.phone_number_id, caller),
    }),
    route({
      method: 'PATCH',
      path: NUMBER,
      access: 'api_key',
      summary: 'Change a number’s label or the agent that answers it',
      tag: 'phone numbers',
      params: PhoneNumberPath,
      body: UpdatePhoneNumberBody,
      reply: { status: 200, schema: PhoneNumber },
      handle: ({ params, body, caller }) => numbers.update(params.phone_number_id, body, caller),
    }),
    route({
      method: 'PUT',
      path: `${NUMBER}/sip-config`,
      access: 'api_key',
      summary: 'Replace the trunk of an imported number',
      description: 'An empty password keeps the stored one as long as its user name is given.',
      tag: 'phone numbers',
      params: PhoneNumberPath,
      body: TrunkBody,
      refusals: ['bad_request'],
      reply: { status: 200, schema: PhoneNumber },
      handle: ({ params, body, caller }) => numbers.putSipConfig(params.phone_number_id, body, caller),
    }),
  ];
}
