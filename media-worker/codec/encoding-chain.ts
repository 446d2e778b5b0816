import type { AudioFormat } from './audio-format.ts';
import { Level, type LevelOptions } from './level.ts';
import type { Mp3Encoders } from './mp3.ts';
import { createOggOpusEncoder } from './ogg-opus.ts';
import type { OpenResampler, Resampler } from './resample.ts';
import { joinBytes, type StreamEncoder } from './stream-encoder.ts';
import { createPcmEncoder, createWavEncoder } from './wav.ts';

export interface ChainOptions {
  readonly format: AudioFormat;
  readonly level: LevelOptions;
  /** Tells Ogg streams apart. */
  readonly serial: number;
}

/** One stream's way from an engine's PCM, at whatever rate it comes, to bytes: loudness, rate, codec. */
export class EncodingChain {
  readonly #open: OpenResampler;
  readonly #encoder: StreamEncoder;
  readonly #level: Level;
  readonly #outputHz: number;
  #inputHz: number;
  #resampler: Resampler | null = null;

  constructor(options: ChainOptions, open: OpenResampler, mp3: Mp3Encoders) {
    const { format } = options;
    this.#open = open;
    this.#level = new Level(options.level);
    this.#outputHz = format.sampleRateHz;
    this.#inputHz = format.sampleRateHz;
    this.#encoder = openEncoder(options, mp3);
  }

  /** Takes the samples over. */
  push(samples: Int16Array, sampleRateHz: number): Uint8Array {
    const parts = sampleRateHz === this.#inputHz ? [] : [this.#changeRate(sampleRateHz)];
    this.#level.apply(samples, sampleRateHz);
    parts.push(this.#encoder.encode(this.#resampler ? this.#resampler.push(samples) : samples));
    return joinBytes(parts);
  }

  /** Everything that was pushed comes out; silence is added where a codec needs it. */
  settle(): Uint8Array {
    return joinBytes([this.#flushResampler(), this.#encoder.settle()]);
  }

  finish(): Uint8Array {
    const rest = joinBytes([this.#flushResampler(), this.#encoder.finish()]);
    this.close();
    return rest;
  }

  /** Frees the resampler. Safe to call twice. */
  close(): void {
    this.#resampler?.close();
    this.#resampler = null;
  }

  #flushResampler(): Uint8Array {
    return this.#encoder.encode(this.#resampler?.flush() ?? new Int16Array(0));
  }

  #changeRate(inputHz: number): Uint8Array {
    const rest = this.#flushResampler();
    this.close();
    this.#inputHz = inputHz;
    if (inputHz !== this.#outputHz) this.#resampler = this.#open(inputHz, this.#outputHz);
    return rest;
  }
}

function openEncoder({ format, serial }: ChainOptions, mp3: Mp3Encoders): StreamEncoder {
  switch (format.codec) {
    case 'wav':
      return createWavEncoder(format.sampleRateHz);
    case 'pcm':
      return createPcmEncoder();
    case 'mp3':
      return mp3.open(format);
    case 'opus':
      return createOggOpusEncoder(format.bitrateBps, serial);
  }
}
