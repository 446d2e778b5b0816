import { randomBytes } from 'node:crypto';

/** One position in a trace (W3C Trace Context, level 1). */
export interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits: the caller's span when parsed, our own when made here. */
  readonly spanId: string;
  /** Two hex digits; bit 0 says that the trace is recorded. */
  readonly flags: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads a `traceparent` header; null when it is missing or breaks a rule of W3C Trace Context 3.2. */
export function parseTraceparent(header: string | null | undefined): TraceContext | null {
  const match = header ? TRACEPARENT.exec(header.trim()) : null;
  if (!match) return null;
  const [, version, traceId = '', spanId = '', flags = '', rest] = match;
  // Version 00 ends after the flags; later versions may add fields, ff is never valid.
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, flags };
}

/** A new span in the caller's trace, or the first span of a new trace when there is no parent. */
export function childTrace(parent: TraceContext | null): TraceContext {
  return {
    traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    flags: parent ? onlyKnownFlags(parent.flags) : '01',
  };
}

export function formatTraceparent(trace: TraceContext): string {
  return `00-${trace.traceId}-${trace.spanId}-${trace.flags}`;
}

/** Version 00 defines the recorded bit alone; the others must be sent as zero. */
function onlyKnownFlags(flags: string): string {
  return (Number.parseInt(flags, 16) & 1).toString(16).padStart(2, '0');
}
