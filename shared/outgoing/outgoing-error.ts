/** Why a request to a URL that a user supplied was not made or not finished. */
const MESSAGES = {
  invalid_url: 'URL is not valid',
  unsupported_scheme: 'URL must use http or https',
  has_credentials: 'URL must not contain a user name or password',
  forbidden_address: 'URL must point to a public address',
  unresolvable: 'URL host could not be resolved',
  invalid_request: 'Request is not valid',
  connect_failed: 'Connection failed',
  timed_out: 'Request timed out',
  too_many_redirects: 'Too many redirects',
  too_large: 'Response is too large',
  aborted: 'Request was cancelled',
} as const;

export type OutgoingErrorCode = keyof typeof MESSAGES;

/**
 * The message is one fixed sentence per code and may be shown to users. It names no host, address or port and
 * carries no `cause`, so that nobody learns what a name resolves to inside the operator's network.
 */
export class OutgoingError extends Error {
  readonly code: OutgoingErrorCode;

  constructor(code: OutgoingErrorCode) {
    super(MESSAGES[code]);
    this.name = 'OutgoingError';
    this.code = code;
  }
}
