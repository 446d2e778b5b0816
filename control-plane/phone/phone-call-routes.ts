import { type AnyRoute, route } from '../http/route.ts';
import { CreatePhoneCallBody, IdempotencyKey, PhoneCall } from './phone-call-schema.ts';
import type { PhoneCallService } from './phone-call-service.ts';

/** The endpoint of outbound calls. */
export function phoneCallRoutes(calls: PhoneCallService): AnyRoute[] {
  return [
    route({
      method: 'POST',
      path: '/v1/agent/phone-calls',
      access: 'api_key',
      summary: 'Call a person with a published agent',
      description:
        'Answers as soon as the call is queued; its session tells what becomes of it. Every refusal has a ' +
        'machine-readable `reason`.',
      tag: 'phone calls',
      hasReasons: true,
      requestHeaders: { 'Idempotency-Key': IdempotencyKey },
      body: CreatePhoneCallBody,
      refusals: [
        'bad_request',
        'out_of_credit',
        'forbidden',
        'not_found',
        'conflict',
        'rate_limited',
        'upstream_failed',
      ],
      reply: { status: 201, schema: PhoneCall },
      handle: ({ body, header, caller }) => calls.create(body, header('idempotency-key'), caller),
    }),
  ];
}
