import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from '../../shared/log.ts';

/** What every log line written while a request is handled carries. */
export interface RequestFields {
  readonly request_id: string;
  readonly trace_id: string;
}

export type RequestScope = AsyncLocalStorage<RequestFields>;

export function createRequestScope(): RequestScope {
  return new AsyncLocalStorage<RequestFields>();
}

/** The same log, with the request's ids in each line that is written while one is handled. */
export function scopedLogger(log: Logger, scope: RequestScope): Logger {
  const withIds = (fields: object): object => ({ ...scope.getStore(), ...fields });
  return {
    error: (fields, message) => log.error(withIds(fields), message),
    warn: (fields, message) => log.warn(withIds(fields), message),
    info: (fields, message) => log.info(withIds(fields), message),
    debug: (fields, message) => log.debug(withIds(fields), message),
    child: (fields) => scopedLogger(log.child(fields), scope),
  };
}
