import MiniSearch from 'minisearch';
import type { Fact } from './facts.ts';
import { contentStems, stem, wordsOf } from './words.ts';

/** Words that callers and prompts use for one another. */
const RELATED: readonly (readonly string[])[] = [
  (
    'hour open close closed time when schedule noon pm daily weekday weekend ' +
    'monday tuesday wednesday thursday friday saturday sunday'
  ).split(' '),
  ['price', 'cost', 'much', 'fee', 'charge', 'expensive', 'rate', 'dollar', 'euro', 'pay'],
  ['address', 'where', 'location', 'located', 'find', 'direction', 'street'],
  ['phone', 'call', 'contact', 'reach', 'email'],
  ['book', 'booking', 'reserve', 'reservation', 'appointment', 'table', 'visit'],
  ['ship', 'shipping', 'deliver', 'delivery', 'arrive'],
  ['return', 'refund', 'exchange'],
].map((group) => group.map(stem));

const RELATED_BOOST = 0.4;
/** A second fact is added when it has the same words of the question and scores not much less. */
const SECOND_SHARE = 0.5;

interface Hit {
  readonly fact: Fact;
  readonly score: number;
  /** Those of the question that it has. */
  readonly words: string;
}

/** Finds the facts that answer a question, ranked by BM25+ (Lv and Zhai 2011). */
export class FactSearch {
  readonly #facts: readonly Fact[];
  readonly #index: MiniSearch<Fact>;

  constructor(facts: readonly Fact[]) {
    this.#facts = facts;
    this.#index = new MiniSearch<Fact>({
      idField: 'order',
      fields: ['text', 'topic'],
      tokenize: (text) => wordsOf(text),
      processTerm: stem,
    });
    this.#index.addAll(facts);
  }

  get facts(): readonly Fact[] {
    return this.#facts;
  }

  /** The best facts for `question`, at most two, in the order they are written; empty when none is about it. */
  find(question: string): Fact[] {
    const ranked = this.#rank(question);
    const best = ranked[0];
    if (!best) return [];
    return ranked
      .filter((hit) => hit === best || (hit.words === best.words && hit.score >= best.score * SECOND_SHARE))
      .slice(0, 2)
      .map((hit) => hit.fact)
      .sort((a, b) => a.order - b.order);
  }

  /** Every fact about `question`, at most `limit`, in the order they are written. */
  findAll(question: string, limit: number): Fact[] {
    return this.#rank(question)
      .slice(0, limit)
      .map((hit) => hit.fact)
      .sort((a, b) => a.order - b.order);
  }

  #rank(question: string): Hit[] {
    // "When", "where" and "how much" mean little by themselves and much to this list.
    const asked = new Set(contentStems(question));
    const all = new Set(wordsOf(question).map(stem));
    const related = new Set(RELATED.filter((group) => group.some((word) => all.has(word))).flat());
    for (const word of asked) related.delete(word);
    const terms = [...asked, ...related];
    if (terms.length === 0) return [];
    const hits = this.#index.search(terms.join(' '), {
      tokenize: (text) => text.split(' '),
      processTerm: (term) => term,
      boost: { topic: 1.5 },
      boostTerm: (term) => (asked.has(term) ? 1 : RELATED_BOOST),
      // Recognisers mishear the ends of long words.
      prefix: (term) => asked.has(term) && term.length > 3,
      fuzzy: (term) => (asked.has(term) && term.length > 6 ? 1 : false),
    });
    return hits.flatMap((hit) => {
      const fact = this.#facts[Number(hit.id)];
      const words = hit.queryTerms.filter((term) => asked.has(term)).sort();
      return fact ? [{ fact, score: hit.score, words: words.join(' ') }] : [];
    });
  }
}
