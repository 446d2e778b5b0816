import type { HttpRoute, SocketRoute } from './socket-server.ts';

export type RouteMatch<T> =
  | { readonly route: T; readonly params: Readonly<Record<string, string>> }
  | 'no_path'
  | { readonly allowed: readonly string[] };

/** Finds the route of a request; knows a wrong method from an unknown path. */
export function matchHttpRoute(
  routes: readonly HttpRoute[],
  method: string,
  path: string,
): RouteMatch<HttpRoute> {
  const allowed: string[] = [];
  for (const route of routes) {
    const params = matchPath(route.path, path);
    if (!params) continue;
    if (route.method === method) return { route, params };
    allowed.push(route.method);
  }
  return allowed.length > 0 ? { allowed } : 'no_path';
}

export function matchSocketRoute(
  routes: readonly SocketRoute[],
  path: string,
): { readonly route: SocketRoute; readonly params: Readonly<Record<string, string>> } | null {
  for (const route of routes) {
    const params = matchPath(route.path, path);
    if (params) return { route, params };
  }
  return null;
}

/** Values of the pattern's `:name` segments, or null when the path is another. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/');
  const given = path.split('/');
  const params: Record<string, string> = {};
  for (const [i, segment] of wanted.entries()) {
    if (segment === '*' && i === wanted.length - 1) return given.length > i ? params : null;
    const value = given[i];
    if (value === undefined) return null;
    if (segment.startsWith(':')) {
      const decoded = decode(value);
      if (decoded === null || decoded === '') return null;
      params[segment.slice(1)] = decoded;
    } else if (segment !== value) return null;
  }
  return given.length === wanted.length ? params : null;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
