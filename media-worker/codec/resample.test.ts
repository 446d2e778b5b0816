import { beforeAll, describe, expect, test } from 'vitest';
import { levelDb, tone, toneShare } from '../../test/support/pitch.ts';
import { joined, pieces } from '../../test/support/speech-samples.ts';
import { loadResampler, type OpenResampler } from './resample.ts';

let open: OpenResampler;
beforeAll(async () => {
  open = await loadResampler();
});

function resampled(samples: Int16Array, inputHz: number, outputHz: number, pieceLength: number): Int16Array {
  const resampler = open(inputHz, outputHz);
  const made = pieces(samples, pieceLength).map((piece) => resampler.push(piece));
  const whole = joined(...made, resampler.flush());
  resampler.close();
  return whole;
}

/** Without the 20 ms at either end, where the sound is cut off sharply. */
function inside(samples: Int16Array, rateHz: number): Int16Array {
  return samples.slice(rateHz / 50, -rateHz / 50);
}

const PAIRS: readonly (readonly [number, number])[] = [
  [48_000, 16_000],
  [16_000, 48_000],
  [22_050, 48_000],
  [22_050, 16_000],
  [24_000, 48_000],
  [24_000, 8_000],
  [44_100, 16_000],
  [8_000, 16_000],
  [16_000, 8_000],
  [8_000, 48_000],
];

describe.each(PAIRS)('from %i to %i Hz', (inputHz, outputHz) => {
  const frame = inputHz / 50;

  test('every sample of time comes out, no more and no less', () => {
    for (const ms of [20, 137, 1_000, 10_007]) {
      const input = new Int16Array(Math.round((ms * inputHz) / 1000));

      const output = resampled(input, inputHz, outputHz, frame);

      expect(output).toHaveLength(Math.round((input.length * outputHz) / inputHz));
    }
  });

  test('never more than the latency is held back', () => {
    const resampler = open(inputHz, outputHz);
    let pushed = 0;
    let made = 0;
    for (let i = 0; i < 500; i++) {
      made += resampler.push(new Int16Array(frame)).length;
      pushed += frame;
      const heldBackMs = (pushed * 1000) / inputHz - (made * 1000) / outputHz;
      expect(heldBackMs).toBeLessThanOrEqual(resampler.latencyMs + 1000 / outputHz + 1000 / inputHz);
    }
    expect(resampler.latencyMs).toBeLessThanOrEqual(5.1);
    resampler.close();
  });

  test('a tone keeps its pitch, its level and its place in time', () => {
    const output = resampled(tone(1_000, 1_000, inputHz), inputHz, outputHz, frame);

    expect(toneShare(output, outputHz, 1_000)).toBeGreaterThan(0.9999);
    const ideal = inside(tone(1_000, 1_000, outputHz), outputHz);
    const error = inside(output, outputHz).map((sample, i) => sample - (ideal[i] ?? 0));
    expect(levelDb(error, ideal)).toBeLessThan(-50);
  });

  test('how the sound is cut into pieces changes nothing', () => {
    const input = tone(440, 400, inputHz);

    const whole = resampled(input, inputHz, outputHz, input.length);

    for (const length of [1, 7, 160, frame]) {
      expect(resampled(input, inputHz, outputHz, length)).toEqual(whole);
    }
  });

  test('speech up to 85 % of the lower band passes unweakened', () => {
    const hz = Math.min(inputHz, outputHz) * 0.5 * 0.85;
    const input = tone(hz, 500, inputHz);

    const output = resampled(input, inputHz, outputHz, frame);

    expect(Math.abs(levelDb(output, input))).toBeLessThan(0.5);
  });
});

describe.each(PAIRS.filter(([inputHz, outputHz]) => outputHz < inputHz))(
  'down from %i to %i Hz',
  (inputHz, outputHz) => {
    test('what the lower rate cannot hold is silenced, not folded down', () => {
      const above = Math.min(outputHz * 0.5 * 1.25, inputHz * 0.49);

      const output = resampled(tone(above, 500, inputHz, 20_000), inputHz, outputHz, inputHz / 50);

      expect(Math.max(...inside(output, outputHz).map(Math.abs))).toBeLessThanOrEqual(1);
    });
  },
);

describe.each(PAIRS.filter(([inputHz, outputHz]) => outputHz > inputHz))(
  'up from %i to %i Hz',
  (inputHz, outputHz) => {
    test('no image of the sound appears above its own band', () => {
      const hz = inputHz * 0.35;

      const output = resampled(tone(hz, 500, inputHz, 20_000), inputHz, outputHz, inputHz / 50);

      const heard = inside(output, outputHz);
      expect(toneShare(heard, outputHz, hz)).toBeGreaterThan(0.999);
      const rest = heard.map(
        (sample, i) =>
          sample - Math.round(20_000 * Math.sin(2 * Math.PI * hz * ((i + outputHz / 50) / outputHz))),
      );
      expect(levelDb(rest, heard)).toBeLessThan(-60);
    });
  },
);

test('two resamplers do not hear each other', () => {
  const alone = resampled(tone(400, 200, 48_000), 48_000, 16_000, 480);
  const [first, second] = [open(48_000, 16_000), open(48_000, 16_000)];

  const beside = pieces(tone(400, 200, 48_000), 480).map((piece) => {
    second.push(tone(3_000, 10, 48_000));
    return first.push(piece);
  });

  expect(joined(...beside, first.flush())).toEqual(alone);
  first.close();
  second.close();
});

test('after flush a new stream begins', () => {
  const resampler = open(22_050, 48_000);
  const say = () => joined(resampler.push(tone(500, 100, 22_050)), resampler.flush());

  const first = say();

  expect(say()).toEqual(first);
  resampler.close();
});

test('flush without sound gives none', () => {
  const resampler = open(16_000, 48_000);

  expect(resampler.flush()).toHaveLength(0);

  resampler.close();
});

test('a piece of many seconds at once is like many short ones', () => {
  const input = tone(700, 12_000, 8_000);

  expect(resampled(input, 8_000, 48_000, input.length)).toEqual(resampled(input, 8_000, 48_000, 160));
});

test('a closed resampler refuses sound and may be closed twice', () => {
  const resampler = open(48_000, 16_000);

  resampler.close();
  resampler.close();

  expect(() => resampler.push(new Int16Array(480))).toThrow(/closed/);
});

test('ten thousand resamplers in turn leave no memory behind', () => {
  for (let i = 0; i < 10_000; i++) open(22_050, 48_000).close();
  const held = Array.from({ length: 50 }, () => open(22_050, 48_000));

  const samples = held.map((resampler) => resampler.push(tone(440, 20, 22_050)));

  expect(new Set(samples.map((s) => s.join())).size).toBe(1);
  for (const resampler of held) resampler.close();
});

test('a rate of zero is refused', () => {
  expect(() => open(0, 16_000)).toThrow(/no resampler/);
});
