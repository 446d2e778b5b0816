import { Failure } from '../../shared/errors.ts';
import type { KeyCaller } from './route.ts';

/** Agents and what belongs to them are created by accounts with beta access alone: 403 for the others. */
export function requireBetaAccess(caller: KeyCaller): void {
  if (caller.hasBetaAccess) return;
  throw new Failure('forbidden', 'This account has no access to the agent platform beta yet');
}
