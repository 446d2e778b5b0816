import type { SpokenWord } from '../../tts-engine.ts';
import type { TextMoment } from './espeak-protocol.ts';

/**
 * Gives each token of `text` (split at white space) its time. A token starts at the first moment that lies in it;
 * one without a moment shares the time between its neighbours by length and is marked as estimated.
 */
export function tokenTimes(text: string, moments: readonly TextMoment[], totalMs: number): SpokenWord[] {
  const tokens = [...text.matchAll(/\S+/g)].map((match) => ({ text: match[0], from: match.index }));
  const known = tokens.map(({ text: token, from }) =>
    moments
      .filter((moment) => moment.position >= from && moment.position < from + token.length)
      .reduce<number | null>((first, { atMs }) => (first === null ? atMs : Math.min(first, atMs)), null),
  );
  const starts: number[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const earliestMs = starts[i - 1] ?? 0;
    const startMs =
      known[i] ??
      shareMs(
        tokens.map((token) => token.text.length),
        known,
        i,
        earliestMs,
        totalMs,
      );
    starts.push(Math.min(totalMs, Math.max(earliestMs, startMs)));
  }
  return tokens.map((token, i) => ({
    text: token.text,
    startMs: starts[i] ?? 0,
    endMs: starts[i + 1] ?? totalMs,
    isEstimated: (known[i] ?? null) === null,
  }));
}

/** Start of token `i`, whose predecessor starts at `fromMs`: the gap up to the next known start, shared by length. */
function shareMs(
  lengths: readonly number[],
  known: readonly (number | null)[],
  i: number,
  fromMs: number,
  totalMs: number,
): number {
  if (i === 0) return 0;
  let next = i;
  while (next < known.length && known[next] === null) next++;
  const untilMs = known[next] ?? totalMs;
  const gap = lengths.slice(i - 1, next).reduce((sum, length) => sum + length, 0);
  return fromMs + ((untilMs - fromMs) * (lengths[i - 1] ?? 0)) / Math.max(1, gap);
}
