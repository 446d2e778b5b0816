import type { SpokenWord } from '../../tts-engine.ts';
import type { Phone } from './flite-program.ts';

const VOWELS = new Set('aa ae ah ao aw ax axr ay eh er ey ih ix iy ow oy uh uw'.split(' '));

/**
 * Gives each source token the time of its phones. `expected` holds how each token is pronounced by itself (empty
 * for one without sound); in a sentence a few sounds differ ("the apple", "Dr. Smith"), so both sequences are
 * aligned by edit distance first. A silent token gets the moment between its neighbours.
 */
export function alignWords(
  tokens: readonly string[],
  expected: readonly (readonly string[])[],
  phones: readonly Phone[],
): SpokenWord[] {
  const spoken = phones
    .map((phone, i) => ({ name: phone.name, startMs: phones[i - 1]?.endMs ?? 0, endMs: phone.endMs }))
    .filter((phone) => phone.name !== 'pau');
  const wanted = expected.flatMap((names, token) => names.map((name) => ({ name, token })));
  const owners = ownersOfSpoken(
    wanted.map((phone) => phone.name),
    spoken.map((phone) => phone.name),
  ).map((index) => wanted[index]?.token ?? 0);

  let lastEndMs = 0;
  return tokens.map((text, token) => {
    const own = spoken.filter((_, i) => owners[i] === token);
    const startMs = own[0]?.startMs ?? lastEndMs;
    lastEndMs = own.at(-1)?.endMs ?? lastEndMs;
    return { text, startMs, endMs: lastEndMs, isEstimated: false };
  });
}

/** For each spoken phone the index of the wanted phone it stands for; never goes back. */
function ownersOfSpoken(wanted: readonly string[], spoken: readonly string[]): number[] {
  const width = spoken.length + 1;
  const cost = new Float64Array((wanted.length + 1) * width);
  const at = (w: number, s: number) => cost[w * width + s] ?? 0;
  for (let w = 0; w <= wanted.length; w++) {
    for (let s = 0; s <= spoken.length; s++) {
      if (w === 0 || s === 0) cost[w * width + s] = w + s;
      else {
        const swap = at(w - 1, s - 1) + difference(wanted[w - 1], spoken[s - 1]);
        cost[w * width + s] = Math.min(swap, at(w - 1, s) + 1, at(w, s - 1) + 1);
      }
    }
  }
  const owners: number[] = new Array(spoken.length).fill(0);
  let w = wanted.length;
  let s = spoken.length;
  while (s > 0) {
    if (w > 0 && at(w, s) === at(w - 1, s - 1) + difference(wanted[w - 1], spoken[s - 1])) {
      owners[--s] = --w;
    } else if (w > 0 && at(w, s) === at(w - 1, s) + 1) {
      w--;
    } else {
      owners[--s] = Math.max(0, w - 1);
    }
  }
  return owners;
}

function difference(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  const isSameSort = VOWELS.has(a ?? '') === VOWELS.has(b ?? '');
  return isSameSort ? 0.75 : 1.5;
}
