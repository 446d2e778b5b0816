import { Agent, request } from 'node:http';

export interface ClosedLoad {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly expectedStatus: number;
  readonly connections: number;
  readonly seconds: number;
}

export interface ClosedLoadResult {
  readonly latenciesMs: readonly number[];
  readonly perSecond: number;
  readonly failed: number;
  /** What came instead of the first of them; null when none failed. */
  readonly firstFailure: string | null;
}

const ANSWER_LIMIT_MS = 10_000;

/** Keeps so many connections busy: each sends its next request when its last one is answered. */
export async function closedLoop(load: ClosedLoad): Promise<ClosedLoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const latenciesMs: number[] = [];
  let failed = 0;
  let firstFailure: string | null = null;
  const startMs = performance.now();
  const endMs = startMs + load.seconds * 1000;

  const busy = async () => {
    while (performance.now() < endMs) {
      const sentMs = performance.now();
      const outcome = await send(agent, load).catch((error: unknown) => String(error));
      if (outcome === load.expectedStatus) latenciesMs.push(performance.now() - sentMs);
      else {
        failed++;
        firstFailure ??= String(outcome);
      }
    }
  };
  await Promise.all(Array.from({ length: load.connections }, busy));
  const perSecond = (latenciesMs.length * 1000) / (performance.now() - startMs);
  agent.destroy();
  return { latenciesMs, perSecond, failed, firstFailure };
}

function send(agent: Agent, { method, url, headers, body }: ClosedLoad): Promise<number> {
  const text = body === undefined ? null : JSON.stringify(body);
  const ofBody =
    text === null
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
  return new Promise((resolve, reject) => {
    const options = { agent, method, headers: { ...headers, ...ofBody }, timeout: ANSWER_LIMIT_MS };
    const sent = request(url, options, (reply) => {
      reply.resume();
      reply.once('end', () => resolve(reply.statusCode ?? 0));
      reply.once('error', reject);
    });
    sent.once('error', reject);
    sent.once('timeout', () => sent.destroy(new Error('no answer')));
    sent.end(text ?? undefined);
  });
}
