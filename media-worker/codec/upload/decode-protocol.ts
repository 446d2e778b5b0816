import type { UndecodableAudio } from './decoded-audio.ts';
import type { FfmpegOptions } from './ffmpeg-reader.ts';

/** What the decoding thread is told: the file once, then one `next` for each answer. */
export type DecodeJob =
  | { readonly type: 'open'; readonly file: Uint8Array; readonly options: FfmpegOptions }
  | { readonly type: 'next' };

/** Mono PCM at 16 kHz, until the end or what is wrong with the file. */
export type DecodeAnswer =
  | { readonly type: 'audio'; readonly samples: Int16Array }
  | { readonly type: 'end' }
  | { readonly type: 'refused'; readonly kind: UndecodableAudio['kind']; readonly message: string }
  | { readonly type: 'failed'; readonly message: string };
