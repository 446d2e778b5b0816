import { Failure, type FailureKind } from '../../shared/errors.ts';

/** A refusal of an outbound call, with its machine-readable reason. */
export function refusal(kind: FailureKind, message: string, reason: string): Failure {
  return new Failure(kind, message, { reason });
}
