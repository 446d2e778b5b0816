import { audioContainer } from './audio-container.ts';
import { type DecodedAudio, UndecodableAudio } from './decoded-audio.ts';
import { type FfmpegOptions, readWithFfmpeg } from './ffmpeg-reader.ts';
import { readFlac, readMp3, readOggVorbis } from './library-readers.ts';
import { readOggPackets } from './ogg-reader.ts';
import { readOggOpus } from './opus-reader.ts';
import { readWav } from './wav-reader.ts';
import { readWebm } from './webm-reader.ts';

/** Decodes an uploaded file, a little at a time. Throws `UndecodableAudio` with a message for the caller. */
export function decodeUpload(
  file: Uint8Array,
  options: FfmpegOptions,
): AsyncIterable<DecodedAudio> | Iterable<DecodedAudio> {
  const container = audioContainer(file);
  switch (container) {
    case 'wav':
      return readWav(file);
    case 'mp3':
      return readMp3(file);
    case 'flac':
      return readFlac(file);
    case 'webm':
      return readWebm(file);
    case 'ogg':
      return readOgg(file);
    case 'mp4':
    case 'adts':
      return readWithFfmpeg(file, container, options);
    case 'unknown':
      throw new UndecodableAudio(
        'unknown_format',
        'The audio format is not known; send wav, mp3, ogg, opus, flac, webm or m4a',
      );
  }
}

function readOgg(file: Uint8Array): AsyncIterable<DecodedAudio> | Iterable<DecodedAudio> {
  const head = readOggPackets(file).next().value ?? null;
  const kind = new TextDecoder('latin1').decode(head?.bytes.subarray(0, 8));
  if (kind === 'OpusHead') return readOggOpus(file);
  if (head && kind.startsWith('\u0001vorbis')) return readOggVorbis(file, head.bytes);
  throw new UndecodableAudio('unknown_format', 'Ogg audio other than Opus and Vorbis is not supported');
}
