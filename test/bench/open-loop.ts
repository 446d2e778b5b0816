import { Agent, request } from 'node:http';
import { systemClock } from '../../shared/time.ts';

export interface LoadResult {
  /** From the moment a request was due to its whole answer: a server that falls behind is not spared. */
  readonly latenciesMs: readonly number[];
  /** Answers with another status than the expected one, and requests without an answer. */
  readonly failed: number;
  /** What came instead of the first of them; null when none failed. */
  readonly firstFailure: string | null;
}

export interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly expectedStatus: number;
  readonly perSecond: number;
  readonly seconds: number;
}

const CONNECTIONS = 64;
const ANSWER_LIMIT_MS = 10_000;

/** Sends requests at a fixed rate, whether or not the ones before were answered. */
export async function openLoop(load: Load): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const latenciesMs: number[] = [];
  let failed = 0;
  let firstFailure: string | null = null;
  const fail = (what: string) => {
    failed++;
    firstFailure ??= what;
  };
  const running: Promise<void>[] = [];
  const startMs = performance.now();
  for (let i = 0; i < load.perSecond * load.seconds; i++) {
    const dueMs = startMs + (i * 1000) / load.perSecond;
    if (dueMs > performance.now()) await systemClock.sleep(dueMs - performance.now());
    running.push(
      post(agent, load).then(
        ({ status, text }) => {
          if (status === load.expectedStatus) latenciesMs.push(performance.now() - dueMs);
          else fail(`${status} ${text}`);
        },
        (error: unknown) => fail(String(error)),
      ),
    );
  }
  await Promise.all(running);
  agent.destroy();
  return { latenciesMs, failed, firstFailure };
}

function post(agent: Agent, { url, headers, body }: Load): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sending = JSON.stringify(body);
    const sent = request(
      url,
      {
        agent,
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(sending),
        },
        timeout: ANSWER_LIMIT_MS,
      },
      (reply) => {
        let text = '';
        reply.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        reply.once('end', () => resolve({ status: reply.statusCode ?? 0, text }));
        reply.once('error', reject);
      },
    );
    sent.once('error', reject);
    sent.once('timeout', () => sent.destroy(new Error('no answer')));
    sent.end(sending);
  });
}
