import { Failure } from '../../shared/errors.ts';
import type { UploadedFile } from '../http/multipart-body.ts';

export const SOURCE_MAX_BYTES = 1_048_576;
const FILE_NAME_MAX = 255;
/** Plain text and Markdown; a name without an ending says nothing. */
const TEXT_NAME = /(^|[^.])\.(md|markdown|txt|text)$/i;
const NAME_ENDING = /\.[a-z0-9]{1,10}$/i;
/** No text has these; form feed, tabs and line ends are text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const CONTROL = /[\u0000-\u0008\u000b\u000e-\u001f\u007f]/;

/** What a knowledge source keeps of an uploaded file. */
export interface SourceText {
  readonly fileName: string;
  readonly sizeBytes: number;
  /** As it was uploaded, without a byte order mark. */
  readonly text: string;
}

/** The refusal of a file past the limit. */
export function fileTooLarge(): Failure {
  return new Failure('bad_request', 'Knowledge source is larger than 1 MB');
}

/** The text of an upload. Throws `Failure` 400 when it isn't plain text or Markdown in UTF-8, or says nothing. */
export function readSourceText(file: UploadedFile): SourceText {
  const fileName = file.fileName.slice(0, FILE_NAME_MAX);
  if (NAME_ENDING.test(fileName) && !TEXT_NAME.test(fileName)) throw notText();
  const text = decode(file.bytes);
  if (CONTROL.test(text)) throw notText();
  if (text.trim() === '') throw new Failure('bad_request', 'Knowledge source is empty');
  return { fileName, sizeBytes: file.bytes.length, text };
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw notText(cause);
  }
}

function notText(cause?: unknown): Failure {
  return new Failure('bad_request', 'Knowledge source must be plain text or Markdown in UTF-8', { cause });
}
