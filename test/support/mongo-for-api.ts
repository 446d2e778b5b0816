import type { TestProject } from 'vitest/node';
import { type MongoTestServer, startMongoServer } from './mongo-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    mongoUrl: string;
  }
}

let server: MongoTestServer | null = null;

/** One MongoDB-wire server for all files of the project; each test has a database of its own. */
export async function setup(project: TestProject): Promise<void> {
  server = await startMongoServer();
  project.provide('mongoUrl', server.url);
}

export async function teardown(): Promise<void> {
  await server?.stop();
}
