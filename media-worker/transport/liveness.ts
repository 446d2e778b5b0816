import type { TransportStats } from './caller-connection.ts';
import type { StatsEntry } from './wrtc.ts';

/**
 * A number that grows with every packet from the other side: media, data and the connectivity checks that keep ICE
 * consent (RFC 7675). One that stands still means a silent peer.
 */
export function receivedSoFar(stats: readonly StatsEntry[]): number {
  let sum = 0;
  for (const entry of stats) {
    if (entry.type !== 'candidate-pair') continue;
    sum += num(entry['bytesReceived']) + num(entry['responsesReceived']) + num(entry['requestsReceived']);
  }
  return sum;
}

/** The caller's side of the statistics; null while nothing was measured. */
export function transportStats(stats: readonly StatsEntry[]): TransportStats | null {
  const inbound = stats.find((entry) => entry.type === 'inbound-rtp' && entry['kind'] === 'audio');
  const pair = stats.find((entry) => entry.type === 'candidate-pair' && entry['nominated'] === true);
  if (!inbound && !pair) return null;
  const roundTripS = pair?.['currentRoundTripTime'];
  const jitterS = inbound?.['jitter'];
  return {
    roundTripMs: typeof roundTripS === 'number' ? roundTripS * 1000 : null,
    packetsLost: num(inbound?.['packetsLost']),
    jitterMs: typeof jitterS === 'number' ? jitterS * 1000 : null,
  };
}

function num(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
