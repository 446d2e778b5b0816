import type { DynamicVariables, SystemValues } from './dynamic-variables.ts';
import type { ToolDefinition } from './tool-definition.ts';
import { fillBodyTemplate, fillUrlTemplate, isJsonType, type LookUp } from './tool-template.ts';

/** What placeholders of a tool may take their values from. */
export interface ToolInputs {
  /** As the model gave them. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly variables: DynamicVariables;
  readonly system: SystemValues;
}

export interface ToolRequest {
  readonly method: ToolDefinition['method'];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: none is sent. */
  readonly body: string | null;
}

const CONTENT_TYPE = 'content-type';

/**
 * The request of one call of a webhook tool whose credentials are in the clear. A declared argument without a value
 * fills in as nothing (JSON: null); a name that nobody declared stays as written; headers are never filled. An empty
 * template of a JSON tool sends all declared arguments as an object. GET has no body. Throws `UnusableArguments`.
 */
export function buildToolRequest(tool: ToolDefinition, inputs: ToolInputs): ToolRequest {
  const lookUp = valuesFor(tool, inputs);
  const body = bodyOf(tool, inputs, lookUp);
  const headers = Object.fromEntries(tool.headers.map(({ name, value }) => [name, value]));
  const hasType = tool.headers.some(({ name }) => name.toLowerCase() === CONTENT_TYPE);
  return {
    method: tool.method,
    url: fillUrlTemplate(tool.url, lookUp),
    headers: body === null || hasType ? headers : { [CONTENT_TYPE]: tool.content_type, ...headers },
    body,
  };
}

function valuesFor(tool: ToolDefinition, { arguments: given, variables, system }: ToolInputs): LookUp {
  const declared = new Set(tool.arguments.map(({ name }) => name));
  return (name) => {
    if (name.startsWith('system.')) return own(system, name.slice('system.'.length));
    if (declared.has(name)) return own(given, name) ?? null;
    return own(variables, name);
  };
}

function bodyOf(tool: ToolDefinition, inputs: ToolInputs, lookUp: LookUp): string | null {
  if (tool.method === 'GET') return null;
  if (tool.body_template !== '') return fillBodyTemplate(tool.body_template, tool.content_type, lookUp);
  if (tool.method === 'DELETE' || tool.arguments.length === 0 || !isJsonType(tool.content_type)) return null;
  const entries = tool.arguments.map(({ name }) => [name, own(inputs.arguments, name) ?? null] as const);
  return JSON.stringify(Object.fromEntries(entries));
}

function own(values: object, name: string): unknown {
  return Object.hasOwn(values, name) ? Reflect.get(values, name) : undefined;
}
