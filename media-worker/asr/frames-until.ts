import type { AudioFrame } from '../frame.ts';

/**
 * The frames of `audio` until it ends or `signal` aborts, also while the next frame is waited for. Leaving tells
 * `audio` that nobody reads any more.
 */
export async function* framesUntil(
  audio: AsyncIterable<AudioFrame>,
  signal: AbortSignal,
): AsyncGenerator<AudioFrame, void, undefined> {
  const frames = audio[Symbol.asyncIterator]();
  let leave = () => {};
  const aborted = new Promise<null>((resolve) => {
    leave = () => resolve(null);
  });
  signal.addEventListener('abort', leave, { once: true });
  try {
    while (!signal.aborted) {
      const next = await Promise.race([frames.next(), aborted]);
      if (!next || next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', leave);
    // A source that waits for its own next frame would keep us here.
    frames.return?.().catch(() => {});
  }
}
