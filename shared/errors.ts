/** Kind of refusal → HTTP status. The only table of its sort; gRPC maps from it as well. */
export const FAILURES = {
  bad_request: 400,
  invalid_token: 401,
  out_of_credit: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  rate_limited: 429,
  upstream_failed: 502,
  unavailable: 503,
} as const;

export type FailureKind = keyof typeof FAILURES;

/** One field that broke a rule, as the 422 list shows it. `loc` starts with `body`, `query` or `path`. */
export interface FieldIssue {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly ctx: Record<string, unknown>;
}

interface FailureOptions {
  readonly reason?: string;
  readonly issues?: readonly FieldIssue[];
  readonly retryAfterS?: number;
  readonly cause?: unknown;
}

/** A refusal the caller is allowed to read. Anything else that is thrown becomes a bare 500. */
export class Failure extends Error {
  readonly kind: FailureKind;
  /** Machine-readable cause, where the interface gives one. */
  readonly reason: string | null;
  /** Fields of an `unprocessable` request: the body of the reply is this list. Without any it is an error body. */
  readonly issues: readonly FieldIssue[];
  readonly retryAfterS: number | null;

  constructor(kind: FailureKind, message: string, options: FailureOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'Failure';
    this.kind = kind;
    this.reason = options.reason ?? null;
    this.issues = options.issues ?? [];
    this.retryAfterS = options.retryAfterS ?? null;
  }

  get status(): number {
    return FAILURES[this.kind];
  }
}

/** A 422 about one field, for rules that a schema can't say. */
export function invalidField(
  loc: readonly (string | number)[],
  msg: string,
  ctx: Record<string, unknown> = {},
): Failure {
  return new Failure('unprocessable', msg, {
    issues: [{ type: 'value_error', loc, msg: `Value error, ${msg}`, ctx }],
  });
}
