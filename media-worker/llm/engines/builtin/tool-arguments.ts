import type { LlmTool } from '../../llm-engine.ts';
import { firstNumber } from './numbers.ts';
import type { Slots } from './slots.ts';
import { wordsOf } from './words.ts';

interface Property {
  readonly type: string;
  readonly description: string;
  readonly options: readonly unknown[];
}

export interface FilledArguments {
  readonly args: Readonly<Record<string, unknown>>;
  readonly missing: { readonly name: string; readonly question: string } | null;
}

/** Fills a tool's parameters by their names and types from what the caller said. */
export function fillArguments(tool: LlmTool, text: string, slots: Slots): FilledArguments {
  const properties = asRecord(tool.parameters['properties']);
  const required = Array.isArray(tool.parameters['required']) ? tool.parameters['required'] : [];
  const args: Record<string, unknown> = {};
  let missing: FilledArguments['missing'] = null;
  for (const name of Object.keys(properties)) {
    const property = readProperty(properties[name]);
    const value = valueFor(name, property, text, slots);
    if (value !== null) args[name] = value;
    else if (required.includes(name)) missing ??= { name, question: questionFor(name) };
  }
  return { args, missing };
}

/** The whole of an answer to the question for `name`, in the type the tool wants; null when it doesn't fit. */
export function answerFor(tool: LlmTool, name: string, answer: string, slots: Slots): unknown {
  const property = readProperty(asRecord(tool.parameters['properties'])[name]);
  const value = valueFor(name, property, answer, slots);
  if (value !== null || property.type !== 'string' || property.options.length > 0) return value;
  return answer.replace(/^(?:it's|it is|in|at|for|to|the)\s+/i, '').replace(/[.!?]+$/, '');
}

export function questionFor(name: string): string {
  return `What is the ${plainName(name)}?`;
}

function plainName(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}

function valueFor(name: string, property: Property, text: string, slots: Slots): unknown {
  if (property.options.length > 0) return chosenOption(property.options, text);
  if (property.type === 'boolean')
    return /\b(?:no|not|don't|without)\b/i.test(text) ? false : yesOrNull(text);
  const hint = `${plainName(name)} ${property.description.toLowerCase()}`;
  if (property.type === 'number' || property.type === 'integer') {
    const value = firstNumber(text);
    return value !== null && property.type === 'integer' ? Math.round(value) : value;
  }
  if (property.type !== 'string') return null;
  if (/\b(?:e-?mail)\b/.test(hint)) return slots.email;
  if (/\b(?:phone|number|code|account|order|id)\b/.test(hint)) return slots.number;
  if (/\b(?:date|day)\b/.test(hint)) return slots.date;
  if (/\btime\b/.test(hint)) return slots.time;
  if (/\bname\b/.test(plainName(name))) return slots.name;
  if (/\b(?:city|place|location|town|country|destination|address|where)\b/.test(hint)) return placeIn(text);
  if (
    /\b(?:query|question|text|message|reason|topic|search|request|note|notes|description)\b/.test(
      plainName(name),
    )
  )
    return text;
  return null;
}

function chosenOption(options: readonly unknown[], text: string): unknown {
  const said = ` ${wordsOf(text).join(' ')} `;
  return (
    options.find((option) => said.includes(` ${wordsOf(String(option).replaceAll('_', ' ')).join(' ')} `)) ??
    null
  );
}

function yesOrNull(text: string): boolean | null {
  return /\b(?:yes|yeah|sure|please|true|with)\b/i.test(text) ? true : null;
}

/** What follows "in", "to", "for" or "near" up to a word that ends a place. */
function placeIn(text: string): string | null {
  const found =
    /\b(?:in|to|at|near|for|of)\s+((?!the weather|me\b|you\b|now\b|today\b|tomorrow\b)\p{L}[\p{L}'’-]*(?:\s+(?!today|tomorrow|tonight|now|right|on|at|in|for|this|next|please|and)\p{L}[\p{L}'’-]*){0,2})/iu.exec(
      text,
    )?.[1];
  return found
    ? found
        .split(' ')
        .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
        .join(' ')
    : null;
}

function readProperty(value: unknown): Property {
  const schema = asRecord(value);
  const type = Array.isArray(schema['type']) ? schema['type'].find((t) => t !== 'null') : schema['type'];
  return {
    type: typeof type === 'string' ? type : 'string',
    description: typeof schema['description'] === 'string' ? schema['description'] : '',
    options: Array.isArray(schema['enum']) ? schema['enum'] : [],
  };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
