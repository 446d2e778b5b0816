import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { type TSchema, Type } from 'typebox';
import { Failure, type FieldIssue } from '../../shared/errors.ts';
import { ClientGone } from './read-body.ts';

/** What a file of the form looks like to a handler. */
export interface UploadedFile {
  /** Without its folders. */
  readonly fileName: string;
  /** As the client says; `text/plain` when it says nothing. */
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** Schema of a form field that is a file. */
export const UploadedFile = Type.Unsafe<UploadedFile>({ contentMediaType: 'application/octet-stream' });

export interface MultipartRule {
  /** Of one file. */
  readonly maxFileBytes: number;
  /** The refusal of a longer one. */
  readonly tooLarge: () => Failure;
}

/** What was sent, to be validated like any other body, and what was wrong with the form itself. */
export interface MultipartBody {
  readonly values: Record<string, unknown>;
  readonly issues: readonly FieldIssue[];
}

const MAX_FIELD_BYTES = 65_536;
const MAX_PARTS = 50;
const MAX_PART_HEADER_BYTES = 8_192;
/** A form this many times the limit is still read and thrown away, so that the client gets to see its refusal. */
const DISCARD_FACTOR = 8;

/**
 * Reads a `multipart/form-data` body (RFC 7578), file contents into memory up to the rule's limit. Throws the rule's
 * refusal, `Failure` 400 for a form that can't be read, and `ClientGone`. A refused form is read to its end, unless it
 * is far too long: then the rest is left unread (`request.complete` tells which).
 */
export async function readMultipart(
  request: IncomingMessage,
  schema: TSchema,
  rule: MultipartRule,
): Promise<MultipartBody> {
  const limitBytes = (rule.maxFileBytes + MAX_FIELD_BYTES) * DISCARD_FACTOR;
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw rule.tooLarge();
  const form = openForm(request, rule);
  const parts = new FormParts(schema);
  form.on('field', (name, text) => parts.add(name, text));
  form.on('file', (name, stream, fileName, _encoding, contentType) => {
    parts.open(stream, (bytes) => parts.add(name, { fileName: cleanName(fileName), contentType, bytes }));
  });
  form.once('partsLimit', () => parts.refuse(malformed()));
  await pump(request, form, limitBytes, rule);
  if (parts.isTooLarge) throw rule.tooLarge();
  return parts.finish();
}

function openForm(request: IncomingMessage, rule: MultipartRule): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' },
      isPartAFile: (_name, _type, fileName) => fileName !== undefined,
      limits: {
        fileSize: rule.maxFileBytes,
        fieldSize: MAX_FIELD_BYTES,
        parts: MAX_PARTS,
        headerSize: MAX_PART_HEADER_BYTES,
      },
    });
  } catch (cause) {
    throw malformed(cause);
  }
}

/** Settles when the form is read, can't be read, is far too long, or the client has gone. */
function pump(
  request: IncomingMessage,
  form: BusboyInstance,
  limitBytes: number,
  rule: MultipartRule,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let receivedBytes = 0;
    const settle = (outcome: () => void) => {
      request.unpipe(form);
      request.off('data', onData).off('error', onGone).off('close', onGone);
      // What is still to come of a form that can't be read is dropped.
      if (!request.readableEnded && receivedBytes <= limitBytes) request.resume();
      outcome();
    };
    const onData = (chunk: Buffer) => {
      receivedBytes += chunk.length;
      if (receivedBytes <= limitBytes) return;
      request.pause();
      settle(() => reject(rule.tooLarge()));
    };
    const onGone = () => {
      if (!request.complete) settle(() => reject(new ClientGone()));
    };
    form.once('finish', () => settle(resolve));
    form.on('error', (cause) => settle(() => reject(malformed(cause))));
    request.on('data', onData).on('error', onGone).on('close', onGone);
    request.pipe(form);
  });
}

/** The parts as they come. */
class FormParts {
  readonly #fileFields: ReadonlySet<string>;
  readonly #values = new Map<string, unknown>();
  readonly #issues: FieldIssue[] = [];
  #refusal: Failure | null = null;
  isTooLarge = false;

  constructor(schema: TSchema) {
    const properties = 'properties' in schema ? schema.properties : {};
    const entries = Object.entries(properties as Record<string, { contentMediaType?: string }>);
    this.#fileFields = new Set(
      entries.filter(([, { contentMediaType }]) => contentMediaType !== undefined).map(([name]) => name),
    );
  }

  /** Collects a file, then says what is in it. One that is too large is remembered as such alone. */
  open(stream: BusboyFileStream, done: (bytes: Buffer) => void): void {
    let chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('limit', () => {
      this.isTooLarge = true;
    });
    // The form itself reports what went wrong.
    stream.on('error', () => {});
    stream.once('end', () => {
      if (!this.isTooLarge) done(Buffer.concat(chunks));
      chunks = [];
    });
  }

  add(name: string | undefined, value: unknown): void {
    if (name === undefined) return this.refuse(malformed());
    if (this.#values.has(name)) this.#issues.push(issue(name, 'field must be given once'));
    else if (this.#fileFields.has(name) && typeof value === 'string') {
      this.#issues.push(issue(name, 'field must be a file'));
    }
    this.#values.set(name, value);
  }

  refuse(failure: Failure): void {
    this.#refusal ??= failure;
  }

  finish(): MultipartBody {
    if (this.#refusal) throw this.#refusal;
    return { values: Object.fromEntries(this.#values), issues: this.#issues };
  }
}

function malformed(cause?: unknown): Failure {
  return new Failure('bad_request', 'Malformed multipart body', { cause });
}

function issue(name: string, msg: string): FieldIssue {
  return { type: 'value_error', loc: ['body', name], msg: `Value error, ${msg}`, ctx: {} };
}

/** A file name without control characters. */
function cleanName(fileName: string): string {
  return fileName.replace(/\p{Cc}/gu, '');
}
