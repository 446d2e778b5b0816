/** Short enough that resampling one chunk never holds up the audio loop. */
const CHUNK_MS = 200;

/** Cuts a whole utterance into chunks with buffers of their own. */
export function* sliceAudio(samples: Int16Array, sampleRateHz: number): Iterable<Int16Array> {
  const length = Math.round((sampleRateHz * CHUNK_MS) / 1000);
  for (let at = 0; at < samples.length; at += length) yield samples.slice(at, at + length);
}
