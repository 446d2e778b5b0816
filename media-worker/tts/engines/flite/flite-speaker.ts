import type { SpokenWord } from '../../tts-engine.ts';
import { alignWords } from './align-words.ts';
import type { FliteProgram, FliteSpeech } from './flite-program.ts';
import type { FliteJob } from './flite-protocol.ts';
import { isAudible } from './flite-text.ts';

/** Flite starts with about 200 ms of silence; the caller would wait for it. */
const LEAD_MS = 30;
/** Enough for a breath between two sentences. */
const TAIL_MS = 150;
/** Pronunciations kept; the oldest goes when a new one comes. */
const KNOWN_WORDS = 5_000;

export interface SpokenPiece {
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
  readonly words: readonly SpokenWord[];
}

/** Speaks pieces with Flite: audio without the long pauses at both ends, and the time of each source token. */
export class FliteSpeaker {
  readonly #program: FliteProgram;
  readonly #phonesOf = new Map<string, readonly string[]>();

  constructor(program: FliteProgram) {
    this.#program = program;
  }

  speak({ piece, voice, durationStretch }: FliteJob): SpokenPiece {
    const text = piece.spokenTokens.filter((token) => token !== '').join(' ');
    const speech = this.#program.speak(text, voice, durationStretch);
    if (!speech.phones.some((phone) => phone.name !== 'pau')) throw new Error('Flite spoke nothing');
    const words = alignWords(piece.tokens, this.#pronunciations(piece.spokenTokens), speech.phones);
    return trim(speech, words);
  }

  #pronunciations(spokenTokens: readonly string[]): (readonly string[])[] {
    const unknown = [...new Set(spokenTokens.filter((t) => isAudible(t) && !this.#phonesOf.has(t)))];
    if (unknown.length > 0) {
      const found = this.#program.pronounce(unknown);
      for (const [i, token] of unknown.entries()) {
        // Without Flite's word for it, one sound per letter still shares the time out by length.
        this.#remember(token, found?.[i] ?? [...token.replace(/[^a-z0-9]/gi, '')]);
      }
    }
    return spokenTokens.map((token) => this.#phonesOf.get(token) ?? []);
  }

  #remember(token: string, phones: readonly string[]): void {
    if (this.#phonesOf.size >= KNOWN_WORDS) {
      const oldest = this.#phonesOf.keys().next();
      if (!oldest.done) this.#phonesOf.delete(oldest.value);
    }
    this.#phonesOf.set(token, phones);
  }
}

function trim(speech: FliteSpeech, words: readonly SpokenWord[]): SpokenPiece {
  const { samples, sampleRateHz, phones } = speech;
  const totalMs = (samples.length * 1000) / sampleRateHz;
  const first = phones.findIndex((phone) => phone.name !== 'pau');
  const last = phones.findLast((phone) => phone.name !== 'pau');
  const cutMs = Math.max(0, (phones[first - 1]?.endMs ?? 0) - LEAD_MS);
  const endMs = Math.min(totalMs, (last?.endMs ?? totalMs) + TAIL_MS);
  const toSample = (ms: number) => Math.round((ms * sampleRateHz) / 1000);
  const clampMs = (ms: number) => Math.round(Math.min(endMs, Math.max(cutMs, ms)) - cutMs);
  return {
    samples: samples.slice(toSample(cutMs), toSample(endMs)),
    sampleRateHz,
    words: words.map((word) => ({ ...word, startMs: clampMs(word.startMs), endMs: clampMs(word.endMs) })),
  };
}
