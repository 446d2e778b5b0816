import type { ErrorObject } from 'ajv';
import type { FieldIssue } from './errors.ts';

/** A longer list helps nobody, and its length is in the hands of the caller. */
const MAX_ISSUES = 100;
/** A key that the caller made up is shown in `loc`, cut to this length. */
const MAX_KEY_CHARS = 128;

export type Source = 'body' | 'query' | 'path';

/**
 * The 422 list for what the validator found. It needs errors made with `allErrors` and `verbose`. Values that were
 * sent never appear in it.
 */
export function fieldIssues(errors: readonly ErrorObject[], source: Source): FieldIssue[] {
  return withoutBranches(errors)
    .slice(0, MAX_ISSUES)
    .map((error) => toIssue(error, source));
}

/** Replaces each failed union and the errors of its branches by the errors of the branch that was meant. */
function withoutBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  const kept: ErrorObject[] = [];
  for (const error of errors) {
    if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') {
      kept.push(error);
      continue;
    }
    // A validator reports the branches right before the union itself.
    const isOfBranch = (e: ErrorObject) =>
      e.schemaPath.startsWith(`${error.schemaPath}/`) && isAtOrBelow(e.instancePath, error.instancePath);
    const firstOfBranch = kept.findIndex(isOfBranch);
    const branchErrors = firstOfBranch === -1 ? [] : kept.splice(firstOfBranch).filter(isOfBranch);
    kept.push(...meantBranch(error, branchErrors));
  }
  return kept.filter((e) => e.keyword !== 'if');
}

function meantBranch(union: ErrorObject, branchErrors: readonly ErrorObject[]): ErrorObject[] {
  const branches = (
    union.schema as readonly { const?: unknown; enum?: readonly unknown[]; type?: unknown }[]
  ).map((schema, index) => ({
    schema,
    errors: branchErrors.filter((e) => e.schemaPath.startsWith(`${union.schemaPath}/${index}/`)),
  }));
  const real = branches.filter((b) => b.schema.type !== 'null');
  const literals = real.flatMap((b) => ('const' in b.schema ? [b.schema.const] : (b.schema.enum ?? [])));
  if (real.every((b) => 'const' in b.schema || b.schema.enum)) {
    return [{ ...union, keyword: 'enum', params: { allowedValues: literals } }];
  }
  // The branch whose own type fits; among those, the one whose fixed values fit best, then the closest.
  const score = (b: (typeof branches)[number]) => {
    const wrongType = b.errors.some((e) => e.keyword === 'type' && e.instancePath === union.instancePath);
    const wrongLiteral = b.errors.some((e) => e.keyword === 'const' || e.keyword === 'enum');
    return (wrongType ? 1e6 : 0) + (wrongLiteral ? 1e3 : 0) + b.errors.length;
  };
  const best = [...real].sort((a, b) => score(a) - score(b))[0];
  return best && best.errors.length > 0 ? [...best.errors] : [union];
}

function isAtOrBelow(path: string, parent: string): boolean {
  return path === parent || path.startsWith(`${parent}/`);
}

function toIssue(error: ErrorObject, source: Source): FieldIssue {
  const loc: (string | number)[] = [source, ...pointerParts(error.instancePath)];
  if (error.keyword === 'required') loc.push(error.params['missingProperty']);
  if (error.keyword === 'additionalProperties') loc.push(cut(error.params['additionalProperty']));
  if (error.keyword === 'unevaluatedProperties') loc.push(cut(error.params['unevaluatedProperty']));
  if (error.propertyName !== undefined) loc.push(cut(error.propertyName));
  const { type, msg, ctx = {} } = describe(error, source);
  return { type, loc, msg, ctx };
}

interface Description {
  readonly type: string;
  readonly msg: string;
  readonly ctx?: Record<string, unknown>;
}

function describe(error: ErrorObject, source: Source): Description {
  const { params, keyword } = error;
  const limit: unknown = params['limit'];
  switch (keyword) {
    case 'required':
      return { type: 'missing', msg: 'Field required' };
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return { type: 'extra_forbidden', msg: 'Extra inputs are not permitted' };
    case 'type':
      return wrongType(error, source);
    case 'const':
      return literal([params['allowedValue']]);
    case 'enum':
      return literal(params['allowedValues']);
    case 'minLength':
      return {
        type: 'string_too_short',
        msg: `String should have at least ${count(limit, 'character')}`,
        ctx: { min_length: limit },
      };
    case 'maxLength':
      return {
        type: 'string_too_long',
        msg: `String should have at most ${count(limit, 'character')}`,
        ctx: { max_length: limit },
      };
    case 'pattern':
      return {
        type: 'string_pattern_mismatch',
        msg: `String should match pattern '${params['pattern']}'`,
        ctx: { pattern: params['pattern'] },
      };
    case 'format':
      return wrongFormat(params['format']);
    default:
      return describeSize(error);
  }
}

function describeSize({ keyword, params, message }: ErrorObject): Description {
  const limit: unknown = params['limit'];
  const inputShould = 'Input should be';
  switch (keyword) {
    case 'minimum':
      return {
        type: 'greater_than_equal',
        msg: `${inputShould} greater than or equal to ${limit}`,
        ctx: { ge: limit },
      };
    case 'maximum':
      return {
        type: 'less_than_equal',
        msg: `${inputShould} less than or equal to ${limit}`,
        ctx: { le: limit },
      };
    case 'exclusiveMinimum':
      return { type: 'greater_than', msg: `${inputShould} greater than ${limit}`, ctx: { gt: limit } };
    case 'exclusiveMaximum':
      return { type: 'less_than', msg: `${inputShould} less than ${limit}`, ctx: { lt: limit } };
    case 'multipleOf':
      return {
        type: 'multiple_of',
        msg: `${inputShould} a multiple of ${params['multipleOf']}`,
        ctx: { multiple_of: params['multipleOf'] },
      };
    case 'minItems':
    case 'minProperties': {
      const [what, unit] = keyword === 'minItems' ? ['List', 'item'] : ['Dictionary', 'entry'];
      return {
        type: 'too_short',
        msg: `${what} should have at least ${count(limit, unit)}`,
        ctx: { field_type: what, min_length: limit },
      };
    }
    case 'maxItems':
    case 'maxProperties': {
      const [what, unit] = keyword === 'maxItems' ? ['List', 'item'] : ['Dictionary', 'entry'];
      return {
        type: 'too_long',
        msg: `${what} should have at most ${count(limit, unit)}`,
        ctx: { field_type: what, max_length: limit },
      };
    }
    case 'uniqueItems':
      return { type: 'value_error', msg: 'Value error, list items must be unique' };
    default:
      return { type: 'value_error', msg: `Value error, ${message ?? 'input is not valid'}` };
  }
}

const TYPES: Readonly<Record<string, readonly [type: string, noun: string]>> = {
  string: ['string', 'string'],
  integer: ['int', 'integer'],
  number: ['float', 'number'],
  boolean: ['bool', 'boolean'],
  array: ['list', 'list'],
  object: ['dict', 'dictionary'],
};

function wrongType({ params, data }: ErrorObject, source: Source): Description {
  const wanted = [params['type']].flat().find((t) => t !== 'null');
  const [type, noun] = TYPES[String(wanted)] ?? ['none', 'null'];
  if (wanted === undefined) return { type: 'none_required', msg: 'Input should be None' };
  if (source !== 'body' && typeof data === 'string' && type !== 'string') {
    return type === 'bool'
      ? { type: 'bool_parsing', msg: 'Input should be a valid boolean, unable to interpret input' }
      : {
          type: `${type}_parsing`,
          msg: `Input should be a valid ${noun}, unable to parse string as ${article(noun)} ${noun}`,
        };
  }
  if (type === 'int' && typeof data === 'number') {
    return {
      type: 'int_from_float',
      msg: 'Input should be a valid integer, got a number with a fractional part',
    };
  }
  return { type: `${type}_type`, msg: `Input should be a valid ${noun}` };
}

function literal(values: readonly unknown[]): Description {
  const shown = values.map((v) => (typeof v === 'string' ? `'${v}'` : String(v)));
  const last = shown.at(-1) ?? '';
  const expected = shown.length > 1 ? `${shown.slice(0, -1).join(', ')} or ${last}` : last;
  return { type: 'literal_error', msg: `Input should be ${expected}`, ctx: { expected } };
}

function wrongFormat(format: string): Description {
  if (format === 'date-time') return { type: 'datetime_parsing', msg: 'Input should be a valid datetime' };
  if (format === 'uri') return { type: 'url_parsing', msg: 'Input should be a valid URL' };
  return { type: 'value_error', msg: `Value error, input is not a valid ${format}` };
}

function count(limit: unknown, unit: string): string {
  if (limit === 1) return `1 ${unit}`;
  return `${limit} ${unit.endsWith('y') ? `${unit.slice(0, -1)}ies` : `${unit}s`}`;
}

function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? 'an' : 'a';
}

function pointerParts(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : cut(part)));
}

function cut(key: unknown): string {
  return String(key).slice(0, MAX_KEY_CHARS);
}
