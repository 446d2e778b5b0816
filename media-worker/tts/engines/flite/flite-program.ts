import { MemoryWasi, ProgramExit } from './memory-wasi.ts';

/** A speech sound and where it ends, in ms from the start of the audio. `pau` is silence. */
export interface Phone {
  readonly name: string;
  readonly endMs: number;
}

export interface FliteSpeech {
  /** 16-bit mono. */
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
  readonly phones: readonly Phone[];
}

/** Voices of the WASM build by their Flite names, all 16 kHz American or Scottish English. */
export const FLITE_VOICES = ['slt', 'rms', 'awb', 'kal16'] as const;
export type FliteVoice = (typeof FLITE_VOICES)[number];

/** Diphone voice: the cheapest way to learn how Flite pronounces a word. */
const PRONOUNCING_VOICE: FliteVoice = 'kal16';

/**
 * The Flite command line program, run in memory. A command can run once per instance of its module, and making
 * an instance copies 16 MB of voices, so one is kept ready for the next run (`prepare`).
 */
export class FliteProgram {
  readonly #module: WebAssembly.Module;
  #prepared: PreparedRun | null = null;

  constructor(module: WebAssembly.Module) {
    this.#module = module;
  }

  prepare(): void {
    this.#prepared ??= new PreparedRun(this.#module);
  }

  /** Speaks one utterance. `durationStretch` above 1 is slower. Throws when Flite fails. */
  speak(text: string, voice: FliteVoice, durationStretch: number): FliteSpeech {
    const wasi = this.#run([
      ...['-voice', voice, '-psdur'],
      ...['--setf', `duration_stretch=${durationStretch.toFixed(4)}`],
      ...['-t', text, '-o', '/speech.wav'],
    ]);
    const wav = wasi.readFile('speech.wav');
    if (!wav) throw new Error('Flite wrote no audio');
    return { ...readWav(wav), phones: readPhones(wasi.standardOutput) };
  }

  /** The phones of each word spoken by itself, pauses left out; null when Flite's output doesn't match the words. */
  pronounce(words: readonly string[]): string[][] | null {
    // Two line breaks end an utterance, so each word is one line of output.
    const wasi = this.#run(['-voice', PRONOUNCING_VOICE, '-ps', '-f', '/words.txt', '-o', 'none'], {
      'words.txt': `${words.join('\n\n')}\n\n`,
    });
    const lines = wasi.standardOutput.split('\n').filter((line) => line.trim() !== '');
    if (lines.length !== words.length) return null;
    return lines.map((line) => line.split(' ').filter((phone) => phone !== '' && phone !== 'pau'));
  }

  #run(args: readonly string[], files: Readonly<Record<string, string>> = {}): MemoryWasi {
    this.prepare();
    const prepared = this.#prepared;
    this.#prepared = null;
    if (!prepared) throw new Error('no instance of Flite');
    return prepared.run(['flite', ...args], files);
  }
}

/** One instance of the module, whose imports are bound only when the arguments are known. */
class PreparedRun {
  readonly #instance: WebAssembly.Instance;
  #imports: Readonly<Record<string, (...args: never[]) => number>> | null = null;

  constructor(module: WebAssembly.Module) {
    const late =
      (name: string) =>
      (...args: never[]) => {
        const implementation = this.#imports?.[name];
        if (!implementation) throw new Error(`${name} is not there`);
        return implementation(...args);
      };
    const names = Object.keys(new MemoryWasi([]).imports);
    this.#instance = new WebAssembly.Instance(module, {
      wasi_snapshot_preview1: Object.fromEntries(names.map((name) => [name, late(name)])),
    });
  }

  run(args: readonly string[], files: Readonly<Record<string, string>>): MemoryWasi {
    const wasi = new MemoryWasi(args, files);
    const { memory, _start: start } = this.#instance.exports;
    if (!(memory instanceof WebAssembly.Memory) || typeof start !== 'function')
      throw new Error('flite.wasm is not a WASI command');
    this.#imports = wasi.imports;
    wasi.attach(memory);
    try {
      start();
    } catch (error) {
      if (!(error instanceof ProgramExit)) throw error;
      if (error.code !== 0) throw error;
    }
    return wasi;
  }
}

/** Audio of a RIFF file as Flite writes it: 16-bit mono PCM, `data` after `fmt `. */
function readWav(bytes: Uint8Array): { samples: Int16Array; sampleRateHz: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sampleRateHz = view.getUint32(24, true);
  let at = 12;
  while (at + 8 <= bytes.length) {
    const name = String.fromCharCode(...bytes.subarray(at, at + 4));
    const size = view.getUint32(at + 4, true);
    if (name === 'data') {
      const end = Math.min(bytes.length, at + 8 + size);
      return { samples: new Int16Array(bytes.slice(at + 8, end - ((end - at) % 2)).buffer), sampleRateHz };
    }
    at += 8 + size + (size % 2);
  }
  throw new Error('Flite wrote a file without audio');
}

/** `-psdur` prints `name:end-in-seconds` for each phone. */
function readPhones(output: string): Phone[] {
  return output
    .split(/\s+/)
    .filter((entry) => entry.includes(':'))
    .map((entry) => {
      const [name = '', end = '0'] = entry.split(':');
      return { name, endMs: Number(end) * 1000 };
    });
}
