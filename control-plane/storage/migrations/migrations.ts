import type { Migration } from './migration.ts';
import { sessionDirection } from './session-direction.ts';

/** All of them, the older ones of a collection first. A version, once used, is never given another meaning. */
export const migrations: readonly Migration[] = [sessionDirection];
