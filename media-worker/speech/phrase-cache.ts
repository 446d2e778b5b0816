import type { SpeechChunk, SpeechRequest, TtsEngine } from '../tts/tts-engine.ts';

export interface PhraseCacheOptions {
  /** Samples and words of all phrases together; the one that wasn't asked for longest goes first. 0 keeps none. */
  readonly maxBytes: number;
  /** Longer phrases hardly ever come again. */
  readonly maxCharacters: number;
}

interface Kept {
  readonly chunks: readonly SpeechChunk[];
  readonly bytes: number;
}

const WORD_BYTES = 64;

/**
 * Keeps what an engine said, by voice, language, pace and text, and says it again without the engine. A phrase is
 * kept when it was spoken to its end.
 */
export class PhraseCache {
  readonly #options: PhraseCacheOptions;
  readonly #phrases = new Map<string, Kept>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;

  constructor(options: PhraseCacheOptions) {
    this.#options = options;
  }

  get figures(): { readonly bytes: number; readonly hits: number; readonly misses: number } {
    return { bytes: this.#bytes, hits: this.#hits, misses: this.#misses };
  }

  /** The engine behind `model`, asked only for what isn't kept. */
  of(engine: Pick<TtsEngine, 'synthesize'>, model: string): Pick<TtsEngine, 'synthesize'> {
    if (this.#options.maxBytes === 0) return engine;
    return { synthesize: (request, signal) => this.#speak(engine, model, request, signal) };
  }

  async *#speak(
    engine: Pick<TtsEngine, 'synthesize'>,
    model: string,
    request: SpeechRequest,
    signal: AbortSignal,
  ): AsyncIterable<SpeechChunk> {
    if (request.text.length > this.#options.maxCharacters) {
      yield* engine.synthesize(request, signal);
      return;
    }
    const key = JSON.stringify([model, request.voice, request.language, request.speed, request.text]);
    const kept = this.#phrases.get(key);
    if (kept) {
      this.#hits++;
      this.#phrases.delete(key);
      this.#phrases.set(key, kept);
      for (const chunk of kept.chunks) yield ownCopy(chunk);
      return;
    }
    this.#misses++;
    const chunks: SpeechChunk[] = [];
    for await (const chunk of engine.synthesize(request, signal)) {
      chunks.push(ownCopy(chunk));
      yield chunk;
    }
    if (!signal.aborted && chunks.length > 0) this.#keep(key, chunks);
  }

  #keep(key: string, chunks: readonly SpeechChunk[]): void {
    const bytes = chunks.reduce((sum, chunk) => sum + sizeOf(chunk), key.length * 2);
    if (bytes > this.#options.maxBytes / 4 || this.#phrases.has(key)) return;
    this.#phrases.set(key, { chunks, bytes });
    this.#bytes += bytes;
    for (const [oldest, kept] of this.#phrases) {
      if (this.#bytes <= this.#options.maxBytes) return;
      this.#phrases.delete(oldest);
      this.#bytes -= kept.bytes;
    }
  }
}

/** Whoever takes audio takes its buffer over. */
function ownCopy(chunk: SpeechChunk): SpeechChunk {
  return chunk.type === 'audio' ? { ...chunk, samples: chunk.samples.slice() } : chunk;
}

function sizeOf(chunk: SpeechChunk): number {
  return chunk.type === 'audio' ? chunk.samples.byteLength : chunk.words.length * WORD_BYTES;
}
