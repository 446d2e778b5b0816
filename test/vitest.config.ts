import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Four projects: `unit` (stages, ports on their fakes and embedded twins, the API on loopback), `calls` (whole calls
 * through both processes), `services` (the same promises on real servers and other clients), `api-on-mongo` (the API's
 * suites once more, on a MongoDB-wire server).
 * Forks, never threads: the WebRTC addon aborts the process in a worker thread.
 */
export default defineConfig({
  test: {
    root,
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            '{control-plane,media-worker,shared,deploy}/**/*.test.ts',
            'test/{contract,api,tooling}/**/*.test.ts',
          ],
          exclude: ['**/*.services.test.ts', '**/node_modules/**', 'dist/**'],
        },
      },
      {
        extends: true,
        test: {
          name: 'calls',
          retry: 1,
          include: ['test/calls/**/*.test.ts'],
          exclude: ['**/*.services.test.ts'],
          testTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'services',
          // Real time with real clients: a machine that stalls for a moment gets a second try, and vitest says so.
          retry: 1,
          include: ['**/*.services.test.ts'],
          exclude: ['**/node_modules/**', 'dist/**'],
          testTimeout: 240_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'api-on-mongo',
          include: ['test/api/**/*.test.ts'],
          // What never touches the store needs no second run.
          exclude: [
            'test/api/http-*.test.ts',
            'test/api/console-*.test.ts',
            'test/api/openapi.test.ts',
            '**/*.services.test.ts',
          ],
          globalSetup: [`${root}test/support/mongo-for-api.ts`],
          setupFiles: [`${root}test/support/use-mongo.ts`],
          testTimeout: 120_000,
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
