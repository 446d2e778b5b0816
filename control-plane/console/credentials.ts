const STORAGE_KEY = 'parley.api_key';
const LINK_PREFIX = '#key=';
/** What a header can carry. */
const SENDABLE = /^[\x21-\x7e]+$/;

/** The API key of this tab: in sessionStorage alone, gone when the tab closes or the person signs out. */
export function createCredentials(storage: Storage) {
  return {
    key: (): string | null => storage.getItem(STORAGE_KEY),
    keep: (key: string): void => storage.setItem(STORAGE_KEY, key),
    forget: (): void => storage.removeItem(STORAGE_KEY),
  };
}
export type Credentials = ReturnType<typeof createCredentials>;

export function isSendable(key: string): boolean {
  return SENDABLE.test(key);
}

/** The key of a sign-in link (`/console#key=…`); null when the address holds none. */
export function keyOfLink(hash: string): string | null {
  if (!hash.startsWith(LINK_PREFIX)) return null;
  try {
    const key = decodeURIComponent(hash.slice(LINK_PREFIX.length));
    return isSendable(key) ? key : null;
  } catch {
    return null;
  }
}
