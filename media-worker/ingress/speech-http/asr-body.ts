import { Busboy, type BusboyFileStream, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { Failure, invalidField } from '../../../shared/errors.ts';
import { readMessagePack, UnreadableBody } from '../../speech/speech-body.ts';
import type { HttpRequest } from '../socket-server.ts';
import { mediaTypeOf, WrongMediaType } from './speech-route.ts';

/** What a recognition request says. */
export interface AsrBody {
  readonly audio: Uint8Array;
  readonly language: string | null;
  readonly ignoresTimestamps: boolean;
}

const MAX_FIELDS = 20;
const MAX_FIELD_BYTES = 1_000;
const LANGUAGE = /^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$/;

/**
 * Reads an upload. Throws `WrongMediaType`, `UnreadableBody`, or `Failure`: 413 as soon as the audio is longer than
 * `maxAudioBytes`, 422 for missing audio or a wrong field.
 */
export async function readAsrBody(request: HttpRequest, maxAudioBytes: number): Promise<AsrBody> {
  switch (mediaTypeOf(request)) {
    case 'multipart/form-data':
      return toBody(await readForm(request, maxAudioBytes));
    case 'application/msgpack': {
      const fields = readMessagePack(await request.readBody());
      if (typeof fields !== 'object' || fields === null)
        throw invalidField(['body'], 'the body is not a map');
      const body = toBody(new Map(Object.entries(fields)));
      if (body.audio.byteLength > maxAudioBytes) throw tooLarge();
      return body;
    }
    default:
      throw new WrongMediaType();
  }
}

function toBody(fields: ReadonlyMap<string, unknown>): AsrBody {
  const audio = fields.get('audio');
  const language = fields.get('language') ?? null;
  if (audio === undefined || audio === null) throw missing();
  if (!(audio instanceof Uint8Array)) throw invalidField(['body', 'audio'], 'audio is a file or bytes');
  if (audio.byteLength === 0) throw invalidField(['body', 'audio'], 'audio is empty');
  const isLanguage =
    language === null || language === '' || (typeof language === 'string' && LANGUAGE.test(language));
  if (!isLanguage) throw invalidField(['body', 'language'], 'language is an ISO 639-1 code');
  return {
    audio,
    language: typeof language === 'string' && language !== '' ? language : null,
    ignoresTimestamps: toBoolean(fields.get('ignore_timestamps')),
  };
}

function toBoolean(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string' && /^(true|1)$/i.test(value)) return true;
  if (typeof value === 'string' && /^(false|0)$/i.test(value)) return false;
  throw invalidField(['body', 'ignore_timestamps'], 'ignore_timestamps is true or false');
}

async function readForm(request: HttpRequest, maxAudioBytes: number): Promise<Map<string, unknown>> {
  const fields = new Map<string, unknown>();
  const form = openForm(request, maxAudioBytes);
  const done = new Promise<void>((resolve, reject) => {
    form.on('field', (name: string, value: string) => fields.set(name, value));
    form.on('file', (name: string, stream: BusboyFileStream) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => {
        if (name === 'audio') chunks.push(chunk);
      });
      stream.on('limit', () => reject(tooLarge()));
      stream.on('error', reject);
      stream.on('end', () => {
        if (name === 'audio') fields.set('audio', new Uint8Array(Buffer.concat(chunks)));
      });
    });
    form.on('error', (error: unknown) => reject(new UnreadableBody('Failed to parse multipart body', error)));
    form.on('finish', resolve);
  });
  const fed = (async () => {
    for await (const chunk of request.body()) {
      if (!form.write(chunk))
        await Promise.race([new Promise((resolve) => form.once('drain', resolve)), done]);
    }
    form.end();
  })();
  try {
    await Promise.race([done, fed.then(() => done)]);
  } finally {
    done.catch(() => {});
    fed.catch(() => {});
    form.destroy();
  }
  return fields;
}

function openForm(request: HttpRequest, maxAudioBytes: number): BusboyInstance {
  const headers: BusboyHeaders = { 'content-type': request.header('content-type') ?? '' };
  try {
    return new Busboy({
      headers,
      limits: {
        fileSize: maxAudioBytes + 1,
        files: 2,
        fields: MAX_FIELDS,
        parts: MAX_FIELDS,
        fieldSize: MAX_FIELD_BYTES,
        fieldNameSize: 100,
        headerPairs: 50,
      },
    });
  } catch (error) {
    throw new UnreadableBody('Failed to parse multipart body: it has no boundary', error);
  }
}

function missing(): Failure {
  const issue = { type: 'missing', loc: ['body', 'audio'], msg: 'Field required', ctx: {} };
  return new Failure('unprocessable', 'Field required', { issues: [issue] });
}

function tooLarge(): Failure {
  return new Failure('payload_too_large', 'Payload too large');
}
