import type { TimelineItem } from '../../shared/session-timeline.ts';

/** What a model is given of a very long call: its beginning and, mostly, its end. */
const HEAD_CHARACTERS = 10_000;
const TAIL_CHARACTERS = 50_000;
/** Longest passage a summary quotes. */
const QUOTE_CHARACTERS = 280;

interface Utterance {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** What was said, without tools and silence. */
export function utterancesOf(items: readonly TimelineItem[]): Utterance[] {
  return items.flatMap((item) => {
    if (item.type !== 'message') return [];
    const text = item.content.replace(/\s+/g, ' ').trim();
    return text === '' ? [] : [{ role: item.role, text } as const];
  });
}

export function hasCallerSpoken(items: readonly TimelineItem[]): boolean {
  return utterancesOf(items).some(({ role }) => role === 'user');
}

/** One line per utterance; the middle of a very long call is left out and marked. */
export function transcriptText(items: readonly TimelineItem[]): string {
  const lines = utterancesOf(items).map(
    ({ role, text }) => `${role === 'user' ? 'Caller' : 'Agent'}: ${text}`,
  );
  const text = lines.join('\n');
  if (text.length <= HEAD_CHARACTERS + TAIL_CHARACTERS) return text;
  return `${text.slice(0, HEAD_CHARACTERS)}\n[…]\n${text.slice(-TAIL_CHARACTERS)}`;
}

/**
 * A summary in the call's own words, whatever its language: how the caller began, the most the caller said at once
 * after that, and the agent's last words.
 */
export function extractiveSummary(items: readonly TimelineItem[]): string | null {
  const said = utterancesOf(items);
  const caller = said.filter(({ role }) => role === 'user');
  const [first, ...rest] = caller;
  if (!first) return null;
  const longest = rest.reduce<Utterance | null>(
    (best, one) => (best === null || one.text.length > best.text.length ? one : best),
    null,
  );
  const last = said.filter(({ role }) => role === 'assistant').at(-1) ?? null;
  const quotes = [first, longest, last].flatMap((one) => (one ? [`“${shorten(one.text)}”`] : []));
  return quotes.join(' … ');
}

function shorten(text: string): string {
  const characters = [...text];
  if (characters.length <= QUOTE_CHARACTERS) return text;
  return `${characters.slice(0, QUOTE_CHARACTERS - 1).join('')}…`;
}
