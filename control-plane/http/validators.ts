import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as ajvFormats from 'ajv-formats';
import type { TSchema } from 'typebox';

/** Compiles a schema once; the function's `errors` hold until its next call. */
export type Compile = (schema: TSchema) => ValidateFunction;

/**
 * JSON Schema 2020-12 validators. `fillDefaults` is for query strings alone: a default written into a PATCH body would
 * overwrite what the caller left out on purpose.
 */
export function createCompile(options: { readonly fillDefaults: boolean }): Compile {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
    useDefaults: options.fillDefaults,
  });
  ajvFormats.default.default(ajv);
  ajv.addKeyword('unit');
  const compiled = new WeakMap<TSchema, ValidateFunction>();
  return (schema) => {
    const known = compiled.get(schema);
    if (known) return known;
    const validate = ajv.compile(schema);
    compiled.set(schema, validate);
    return validate;
  };
}
