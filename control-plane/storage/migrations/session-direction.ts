import type { Migration } from './migration.ts';

/** Sessions from before there were outbound calls don't say their direction: all of them came in. */
export const sessionDirection: Migration = {
  collection: 'sessions',
  toVersion: 2,
  fieldsFor: (doc) => (doc['direction'] === undefined ? { direction: 'inbound' } : {}),
};
