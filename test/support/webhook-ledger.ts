interface Arrival {
  readonly endpoint: string;
  readonly body: string;
}

/** What must hold of everything that arrived, whatever happened to the sender. */
export interface LedgerReport {
  /** Different (endpoint, session, event). */
  readonly deliveries: number;
  /** Arrivals past the first of their kind. */
  readonly repeats: number;
  /** Sessions and endpoints where call.analyzed came before call.ended was done. */
  readonly disordered: readonly string[];
  /** Sessions and events whose bodies differed. */
  readonly changed: readonly string[];
}

/** Counts arrivals of call.ended and call.analyzed, in the order they came. */
export function readArrivals(arrivals: readonly Arrival[]): LedgerReport {
  const order = new Map<string, string>();
  const kinds = new Set<string>();
  const bodies = new Map<string, string>();
  const changed = new Set<string>();
  for (const { endpoint, body } of arrivals) {
    const { event, session } = JSON.parse(body) as { event: string; session: { id: string } };
    const lane = `${endpoint} ${session.id}`;
    order.set(lane, (order.get(lane) ?? '') + (event === 'call.ended' ? 'e' : 'a'));
    kinds.add(`${lane} ${event}`);
    const what = `${session.id} ${event}`;
    if ((bodies.get(what) ?? body) !== body) changed.add(what);
    bodies.set(what, body);
  }
  return {
    deliveries: kinds.size,
    repeats: arrivals.length - kinds.size,
    disordered: [...order].filter(([, events]) => !/^e+a+$/.test(events)).map(([lane]) => lane),
    changed: [...changed],
  };
}
