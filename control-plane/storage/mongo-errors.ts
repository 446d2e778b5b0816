import {
  MongoAPIError,
  MongoError,
  MongoNotConnectedError,
  MongoServerError,
  MongoTopologyClosedError,
} from 'mongodb';
import { DeadlineExceeded } from '../../shared/time.ts';
import { DuplicateKeyError, InvalidOperation, StoreUnavailable } from './collection.ts';

const DUPLICATE_KEY = 11000;
// BadValue, TypeMismatch, PathNotViable, ConflictingUpdateOperators, ImmutableField, a list operator on no list.
const INVALID_OPERATION = new Set([2, 14, 28, 40, 66, 10141]);
// MaxTimeMSExpired, WriteConcernTimeout, and what a server says while it starts, stops or changes its primary.
const UNAVAILABLE = new Set([50, 64, 91, 189, 10107, 11600, 11602, 13435, 13436]);

/** The port's error for what the driver threw; an error that is a fault of our own comes back as it is. */
export function portError(collection: string, error: unknown): unknown {
  if (error instanceof DeadlineExceeded) return new StoreUnavailable(error);
  if (!(error instanceof MongoError)) return error;
  if (error instanceof MongoServerError) return serverError(collection, error);
  const isOurFault =
    error instanceof MongoAPIError &&
    !(error instanceof MongoTopologyClosedError || error instanceof MongoNotConnectedError);
  return isOurFault ? error : new StoreUnavailable(error);
}

function serverError(collection: string, error: MongoServerError): unknown {
  const code = Number(error.code);
  if (code === DUPLICATE_KEY) return new DuplicateKeyError(collection, error);
  if (INVALID_OPERATION.has(code)) return new InvalidOperation(error.message, error);
  return UNAVAILABLE.has(code) ? new StoreUnavailable(error) : error;
}
