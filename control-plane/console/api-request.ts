import type { FieldIssue } from './api-types.ts';

const DEADLINE_MS = 20_000;

/** A request that didn't succeed; `message` is for the person at the screen. `status` is 0 when no answer came. */
export class ApiError extends Error {
  readonly status: number;
  readonly issues: readonly FieldIssue[];

  constructor(status: number, message: string, issues: readonly FieldIssue[] = []) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.issues = issues;
  }
}

export type Send = <T>(method: string, path: string, body?: unknown) => Promise<T>;

/** Sends with this key, and reports a key that the server no longer takes. Throws `ApiError` alone. */
export function createSend(key: string, onKeyRefused: (message: string) => void): Send {
  return async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const reply = await attempt(key, method, path, body);
    const content = await readJson(reply);
    // The server checks every reply against the schema that these types are tested against.
    if (reply.ok) return content as T;
    const error = toError(reply.status, content);
    if (error.status === 401) onKeyRefused(error.message);
    throw error;
  };
}

async function attempt(key: string, method: string, path: string, body: unknown): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      credentials: 'omit',
      cache: 'no-store',
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
  } catch {
    throw new ApiError(0, 'The server does not answer. Check that it runs and that you are online.');
  }
}

async function readJson(reply: Response): Promise<unknown> {
  try {
    const text = await reply.text();
    return text === '' ? null : JSON.parse(text);
  } catch {
    throw new ApiError(0, `The server's answer could not be read (status ${reply.status}).`);
  }
}

function toError(status: number, content: unknown): ApiError {
  if (status === 422 && Array.isArray(content))
    return new ApiError(status, 'Some fields need your attention.', content as FieldIssue[]);
  if (status === 401) return new ApiError(status, refusedKey(messageOf(content)));
  return new ApiError(status, messageOf(content) ?? `The server refused with status ${status}.`);
}

function refusedKey(message: string | null): string {
  return message === 'Token expired' ? 'This API key has expired.' : 'This API key is not valid.';
}

function messageOf(content: unknown): string | null {
  const message = (content as { message?: unknown } | null)?.message;
  return typeof message === 'string' && message !== '' ? message : null;
}
