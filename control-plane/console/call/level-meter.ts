import { h } from '../dom.ts';

/** Quieter than this is shown as silence. */
const FLOOR_DB = -55;
const CEILING_DB = -10;
const FFT_SIZE = 1024;
/** Share of the shown level that is left after each frame of the screen: it falls softly and rises at once. */
const FALL = 0.9;

/** A bar that shows how loud a track is. */
export class LevelMeter {
  readonly element: HTMLElement;
  readonly #bar = h('div', { class: 'meter-bar' });
  readonly #context: AudioContext;
  #source: MediaStreamAudioSourceNode | null = null;
  #frame = 0;
  #shown = 0;

  constructor(label: string, context: AudioContext) {
    this.#context = context;
    this.element = h(
      'div',
      { class: 'meter', 'aria-hidden': 'true' },
      h('span', { class: 'meter-label' }, label),
      h('div', { class: 'meter-track' }, this.#bar),
    );
    this.#draw(0);
  }

  /** Shows this track from now on. */
  follow(track: MediaStreamTrack): void {
    this.stop();
    const analyser = new AnalyserNode(this.#context, { fftSize: FFT_SIZE });
    this.#source = this.#context.createMediaStreamSource(new MediaStream([track]));
    this.#source.connect(analyser);
    const samples = new Float32Array(FFT_SIZE);
    const step = () => {
      analyser.getFloatTimeDomainData(samples);
      this.#shown = Math.max(levelOf(samples), this.#shown * FALL);
      this.#draw(this.#shown);
      this.#frame = requestAnimationFrame(step);
    };
    step();
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
    this.#source?.disconnect();
    this.#source = null;
    this.#shown = 0;
    this.#draw(0);
  }

  #draw(level: number): void {
    this.#bar.style.transform = `scaleX(${level.toFixed(3)})`;
    this.element.dataset['level'] = level.toFixed(2);
  }
}

/** 0 (silence) to 1 (loud), by the mean power in decibels. */
function levelOf(samples: Float32Array): number {
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
  const db = 10 * Math.log10(power + 1e-10);
  return Math.min(1, Math.max(0, (db - FLOOR_DB) / (CEILING_DB - FLOOR_DB)));
}
