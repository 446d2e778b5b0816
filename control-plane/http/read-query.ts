import type { TSchema } from 'typebox';
import type { FieldIssue } from '../../shared/errors.ts';

/** Of any size: how large one may be is the schema's or the handler's matter. */
const INTEGER = /^-?\d{1,300}$/;
const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/;

/**
 * The declared parameters of a query string, turned into the types their schema names; text that doesn't fit stays
 * text for the validator to refuse. Unknown parameters are ignored, a repeated one is an issue unless its schema is
 * a list.
 */
export function readQuery(
  querystring: string,
  schema: TSchema,
): { readonly values: Record<string, unknown>; readonly issues: readonly FieldIssue[] } {
  const params = new URLSearchParams(querystring);
  const properties = ('properties' in schema ? schema.properties : {}) as Record<string, { type?: string }>;
  const values: Record<string, unknown> = {};
  const issues: FieldIssue[] = [];
  for (const [name, { type }] of Object.entries(properties)) {
    const texts = params.getAll(name);
    const [text] = texts;
    if (text === undefined) continue;
    if (type === 'array') values[name] = texts;
    else if (texts.length === 1) values[name] = coerce(text, type);
    else issues.push(givenTwice(name));
  }
  return { values, issues };
}

function coerce(text: string, type: string | undefined): unknown {
  if (type === 'integer' && INTEGER.test(text)) return Number(text);
  if (type === 'number' && NUMBER.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function givenTwice(name: string): FieldIssue {
  return {
    type: 'value_error',
    loc: ['query', name],
    msg: 'Value error, parameter must be given once',
    ctx: {},
  };
}
