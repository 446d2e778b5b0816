import { Type } from 'typebox';
import { FAILURES, type FailureKind } from '../../shared/errors.ts';
import type { OpenApiComponents } from './openapi-components.ts';
import type { DescribedReply, DescribedSchema } from './openapi-document.ts';
import type { AnyRoute } from './route.ts';

/** Body of a refusal. */
export const ErrorBody = Type.Object(
  {
    status: Type.Integer({ description: 'The HTTP status.' }),
    message: Type.String(),
    reason: Type.Union([Type.String(), Type.Null()], {
      description: 'Machine-readable cause, where there is one.',
    }),
  },
  { title: 'Error' },
);

/** Body of a 422. */
export const FieldIssues = Type.Array(
  Type.Object(
    {
      type: Type.String({ description: 'Kind of the rule that was broken.', examples: ['missing'] }),
      loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
        description: 'Where: `body`, `query` or `path`, then the way to the field.',
        examples: [['body', 'name']],
      }),
      msg: Type.String({ examples: ['Field required'] }),
      ctx: Type.Record(Type.String(), Type.Unknown(), {
        description: 'Limits and expected values.',
        examples: [{}],
      }),
    },
    { title: 'FieldIssue' },
  ),
  { title: 'FieldIssues' },
);

interface RefusalText {
  readonly description: string;
  readonly message: string;
}

const TEXTS: Readonly<Record<FailureKind, RefusalText>> = {
  bad_request: {
    description:
      'Well-formed, but wrong in its meaning: a body that is no JSON, a cursor that does not verify.',
    message: 'Malformed JSON',
  },
  invalid_token: {
    description:
      'The credential is not valid. A missing or malformed `Authorization` header gets the same status without a body.',
    message: 'Invalid token',
  },
  out_of_credit: { description: 'No credit is left; nothing was charged.', message: 'Out of API credit' },
  forbidden: { description: 'The caller may not do this.', message: 'Origin not allowed' },
  not_found: {
    description: 'No such resource. Another team’s resource answers the same.',
    message: 'Not found',
  },
  method_not_allowed: { description: 'The path has other methods.', message: 'Method not allowed' },
  conflict: {
    description: 'The resource’s state does not allow it.',
    message: 'Agent has no published version',
  },
  payload_too_large: { description: 'The body is too long.', message: 'Payload too large' },
  unsupported_media_type: {
    description: 'The body is missing or its `Content-Type` is another one. Without a body.',
    message: '',
  },
  unprocessable: { description: 'Fields break their rules. What was sent is never repeated.', message: '' },
  rate_limited: { description: 'Too many requests; try again later.', message: 'Too many requests' },
  upstream_failed: {
    description: 'A system behind this one failed. Trying again is safe.',
    message: 'Agent gateway is unreachable',
  },
  unavailable: {
    description: 'A dependency is briefly unreachable; try again with growing pauses.',
    message: 'Service temporarily unavailable',
  },
};

const PAGED = ['cursor', 'page'];

/** The kinds of refusal a route may answer with: those of its sort, and its own. */
export function refusalsOf(route: AnyRoute): FailureKind[] {
  const hasBody = route.body !== undefined;
  const queryFields = Object.keys((route.query as { properties?: object } | undefined)?.properties ?? {});
  const isPaged = PAGED.every((field) => queryFields.includes(field));
  const ofItsSort: [FailureKind, boolean][] = [
    ['bad_request', hasBody || isPaged],
    ['invalid_token', route.access !== 'open'],
    ['not_found', route.params !== undefined],
    ['payload_too_large', hasBody],
    ['unsupported_media_type', hasBody],
    ['unprocessable', hasBody || queryFields.length > 0],
    ['unavailable', route.access !== 'open'],
  ];
  const kinds = new Set(ofItsSort.flatMap(([kind, applies]) => (applies ? [kind] : [])));
  for (const kind of route.refusals ?? []) kinds.add(kind);
  return [...kinds].sort((a, b) => FAILURES[a] - FAILURES[b]);
}

/** Body of a 422 where refusals carry a reason: what the fields mean together may be refused as well. */
const FieldIssuesOrError = Type.Union([FieldIssues, ErrorBody], { title: 'FieldIssuesOrError' });

/** The reply of a refusal, as described. */
export function describeRefusal(
  kind: FailureKind,
  components: OpenApiComponents,
  hasReasons = false,
): DescribedReply {
  const { description, message } = TEXTS[kind];
  const headers = headersOf(kind);
  if (kind === 'unsupported_media_type') return { description, headers };
  const isList = kind === 'unprocessable';
  const listSchema = hasReasons ? FieldIssuesOrError : FieldIssues;
  const schema: DescribedSchema = components.describe(isList ? listSchema : ErrorBody);
  const example = isList
    ? [{ type: 'missing', loc: ['body', 'name'], msg: 'Field required', ctx: {} }]
    : { status: FAILURES[kind], message, reason: null };
  return { description, headers, content: { 'application/json': { schema, example } } };
}

function headersOf(kind: FailureKind): Record<string, unknown> {
  return {
    'X-Request-Id': { $ref: '#/components/headers/RequestId' },
    ...(kind === 'invalid_token' ? { 'WWW-Authenticate': { $ref: '#/components/headers/Challenge' } } : {}),
    ...(kind === 'unavailable' || kind === 'rate_limited'
      ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }
      : {}),
  };
}
