import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { projectFile } from '../../shared/project-file.ts';
import { startProcess } from './server-process.ts';

const HINT = 'The tests on a MongoDB-wire server need a JDK (17 or newer) and Maven.';
const START_LIMIT_MS = 20_000;
const FETCH_LIMIT_MS = 180_000;

export interface MongoTestServer {
  readonly url: string;
  readonly port: number;
  /** Ends it as a crash would. What it held is gone. */
  stop(): Promise<void>;
  /** Stops it from answering, its sockets staying open, until `resume`. */
  pause(): void;
  resume(): void;
}

/**
 * A MongoDB-wire server on loopback, empty and in memory; on a free port unless one is given. The first start
 * fetches its jars with Maven. It is an independent implementation, not mongod.
 */
export async function startMongoServer(options: { port?: number } = {}): Promise<MongoTestServer> {
  const jars = await fetchJars();
  const source = projectFile('test/support/mongo-server/MongoTestServer.java');
  const server = await startProcess(
    'java',
    ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx256m', '-cp', join(jars, '*'), source].concat(
      String(options.port ?? 0),
    ),
    { limitMs: START_LIMIT_MS, hint: HINT },
  );
  const port = Number(server.firstLine);
  return {
    url: `mongodb://127.0.0.1:${port}/`,
    port,
    stop: async () => {
      server.child.kill('SIGKILL');
      await server.stop();
    },
    pause: () => void server.child.kill('SIGSTOP'),
    resume: () => void server.child.kill('SIGCONT'),
  };
}

/** The folder of the jars, filled once for each state of the pom. */
async function fetchJars(): Promise<string> {
  const pom = projectFile('test/support/mongo-server/pom.xml');
  const state = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex')
    .slice(0, 16);
  const folder = projectFile(`node_modules/.cache/parley/mongo-server-${state}`);
  if (existsSync(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}-`);
  try {
    await promisify(execFile)(
      'mvn',
      ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${draft}`],
      { timeout: FETCH_LIMIT_MS },
    );
    await rename(draft, folder);
  } catch (cause) {
    await rm(draft, { recursive: true, force: true });
    // Another process may have been faster.
    if (!existsSync(folder)) throw new Error(`can't fetch the MongoDB-wire server. ${HINT}`, { cause });
  }
  return folder;
}
