import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Static, TObject, TSchema } from 'typebox';

/** Thrown with every problem of the settings at once, so that one restart mends them all. */
export class InvalidSettings extends Error {
  constructor(problems: readonly string[]) {
    super(`Settings are not usable:\n${problems.map((p) => `  ${p}`).join('\n')}`);
    this.name = 'InvalidSettings';
  }
}

/**
 * Reads settings from environment variables by a schema whose property names are the variables' names.
 * Numbers and booleans are coerced, defaults filled in, an empty string counts as not set. Variables that the
 * schema doesn't name are left alone (the environment is shared with others), unless they start with `PARLEY_`
 * and no process's schema knows them.
 */
export function readSettings<T extends TObject>(
  schema: T,
  env: Readonly<Record<string, string | undefined>>,
  alsoKnown: readonly string[] = [],
): Static<T> {
  const properties = schema.properties as Record<string, TSchema>;
  const values: Record<string, string> = {};
  for (const name of Object.keys(properties)) {
    const value = env[name];
    if (value !== undefined && value !== '') values[name] = value;
  }
  const ajv = new Ajv2020({ allErrors: true, coerceTypes: true, useDefaults: true, strict: true });
  ajv.addKeyword('unit');
  const check = ajv.compile(schema);
  const problems = check(values)
    ? []
    : (check.errors ?? []).map(
        (e) => `${e.instancePath.slice(1) || e.params['missingProperty'] || ''}: ${e.message}`,
      );
  for (const name of Object.keys(env)) {
    if (name.startsWith('PARLEY_') && !(name in properties) && !alsoKnown.includes(name))
      problems.push(`${name}: unknown setting`);
  }
  if (problems.length > 0) throw new InvalidSettings(problems);
  // ajv has just proven the shape and filled the defaults.
  return values as unknown as Static<T>;
}
