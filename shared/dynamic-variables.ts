/** What `{{system.…}}` may name. */
export const SYSTEM_VARIABLES = [
  'channel',
  'timezone',
  'today',
  'language',
  'caller_number',
  'dialed_number',
] as const;
export type SystemVariable = (typeof SYSTEM_VARIABLES)[number];

export type SystemValues = Readonly<Record<SystemVariable, string>>;

export type VariableValue = string | number | boolean;

/** Values for `{{name}}` placeholders, by name. */
export type DynamicVariables = Readonly<Record<string, VariableValue>>;

export const VARIABLE_NAME_PATTERN = '^[A-Za-z][A-Za-z0-9_]*$';
/** Unicode code points. */
export const VARIABLE_TEXT_MAX = 1000;
export const VARIABLE_COUNT_MAX = 50;

const PLACEHOLDER = /\{\{[ \t]*([A-Za-z][A-Za-z0-9_]*|system\.[^{}\s]*)[ \t]*\}\}/g;
const VARIABLE_NAME = new RegExp(VARIABLE_NAME_PATTERN);

/**
 * Fills `{{name}}` and `{{system.name}}` once: a value's own braces are not looked at again. Placeholders
 * without a value stay as written.
 */
export function fillTemplate(template: string, variables: DynamicVariables, system: SystemValues): string {
  return template.replace(PLACEHOLDER, (written: string, name: string) => {
    if (name.startsWith('system.')) {
      const systemName = name.slice('system.'.length);
      return isSystemVariable(systemName) ? system[systemName] : written;
    }
    return Object.hasOwn(variables, name) ? String(variables[name]) : written;
  });
}

/** The `system.…` names in `template` that don't exist, each once. */
export function unknownSystemVariables(template: string): string[] {
  const unknown = new Set<string>();
  for (const [, name] of template.matchAll(PLACEHOLDER)) {
    if (name?.startsWith('system.') && !isSystemVariable(name.slice('system.'.length))) unknown.add(name);
  }
  return [...unknown];
}

/** Keeps the first 50 entries that follow the rules and drops the others one by one. For sources that can't be refused. */
export function keepValidVariables(entries: Readonly<Record<string, unknown>>): DynamicVariables {
  const kept: [string, VariableValue][] = [];
  for (const [name, value] of Object.entries(entries).slice(0, VARIABLE_COUNT_MAX)) {
    if (VARIABLE_NAME.test(name) && isVariableValue(value)) kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}

function isVariableValue(value: unknown): value is VariableValue {
  if (typeof value === 'string') return [...value].length <= VARIABLE_TEXT_MAX;
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}

function isSystemVariable(name: string): name is SystemVariable {
  return SYSTEM_VARIABLES.some((known) => known === name);
}
