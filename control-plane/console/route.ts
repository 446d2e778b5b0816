export interface Route {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** `#/agents/42?start=1` → path `['agents', '42']` and its query. */
export function parseHash(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const parts = path.split('/').filter((part) => part !== '');
  return { path: parts.map(decodePart), query: new URLSearchParams(query) };
}

export function agentLink(agentId: string, page: '' | '/talk' = ''): string {
  return `#/agents/${encodeURIComponent(agentId)}${page}`;
}

export function sessionLink(sessionId: string): string {
  return `#/sessions/${encodeURIComponent(sessionId)}`;
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
