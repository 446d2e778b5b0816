import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Static, Type } from 'typebox';
import { Failure } from '../../shared/errors.ts';
import { fieldIssues } from '../../shared/field-issues.ts';

const fraction = Type.Optional(Type.Number({ minimum: 0, maximum: 1 }));

const Prosody = Type.Object({
  speed: Type.Optional(Type.Number({ minimum: 0.5, maximum: 2 })),
  /** Decibels. */
  volume: Type.Optional(Type.Number({ minimum: -20, maximum: 20 })),
  normalize_loudness: Type.Optional(Type.Boolean()),
});

/**
 * A synthesis request after nulls were dropped: `null` and a missing field mean the same. Unknown fields are let
 * through, since clients send flags of later versions.
 */
export const TtsBody = Type.Object({
  text: Type.String(),
  reference_id: Type.Optional(
    Type.Unsafe<string | string[]>({
      type: ['string', 'array'],
      maxLength: 128,
      maxItems: 16,
      items: { type: 'string', maxLength: 128 },
    }),
  ),
  references: Type.Optional(Type.Array(Type.Unknown())),
  prosody: Type.Optional(Prosody),
  format: Type.Optional(Type.Enum(['wav', 'pcm', 'mp3', 'opus'])),
  sample_rate: Type.Optional(Type.Integer()),
  mp3_bitrate: Type.Optional(Type.Enum([64, 128, 192])),
  /** Bits per second; older clients send kilobits. −1000 leaves it to the encoder. */
  opus_bitrate: Type.Optional(Type.Enum([-1_000, 24, 32, 48, 64, 24_000, 32_000, 48_000, 64_000])),
  chunk_length: Type.Optional(Type.Integer({ minimum: 100, maximum: 300 })),
  min_chunk_length: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
  normalize: Type.Optional(Type.Boolean()),
  latency: Type.Optional(Type.Enum(['low', 'normal', 'balanced'])),
  temperature: fraction,
  top_p: fraction,
  early_stop_threshold: fraction,
  max_new_tokens: Type.Optional(Type.Integer({ minimum: 0 })),
  repetition_penalty: Type.Optional(Type.Number()),
  condition_on_previous_chunks: Type.Optional(Type.Boolean()),
  features: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 64 })),
});
export type TtsBody = Static<typeof TtsBody>;

/** Makes the check of one request body, whose text may have so many characters. Throws `Failure` 422 with the list of what is wrong. */
export function createTtsBodyCheck(maxTextCharacters: number): (body: unknown) => TtsBody {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    strict: true,
    allowUnionTypes: true,
    strictTypes: false,
  });
  const schema = {
    ...TtsBody,
    properties: { ...TtsBody.properties, text: { type: 'string', maxLength: maxTextCharacters } },
  };
  const validate: ValidateFunction<TtsBody> = ajv.compile(schema);
  return (body) => {
    const given = withoutNulls(body);
    if (validate(given)) return given;
    throw new Failure('unprocessable', 'Validation failed', {
      issues: fieldIssues(validate.errors ?? [], 'body'),
    });
  };
}

/** The body and its prosody without their null fields. */
function withoutNulls(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const fields = Object.entries(body).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, name === 'prosody' ? withoutNulls(value) : value]),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
  );
}
