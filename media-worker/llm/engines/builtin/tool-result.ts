import { spokenText } from '../../spoken-text.ts';
import { capitalised } from './words.ts';

const MAX_SPOKEN_CHARACTERS = 400;
const MAX_VALUES = 6;
/** Where services put what is meant for people. */
const SPEAKING_KEYS = ['message', 'answer', 'text', 'summary', 'result', 'description', 'output'];
const ERROR_KEYS = ['error', 'errors'];

/** A tool's result in a sentence or two. */
export function speakResult(content: string): string {
  const value = parse(content);
  const record = typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  const error = record && ERROR_KEYS.map((key) => valueAt(record, key)).find((found) => found !== undefined);
  if (error !== undefined && error !== null && error !== false)
    return `I'm sorry, that did not work. ${sentence(describe(error))}`.trim();
  const speaking = record && SPEAKING_KEYS.map((key) => valueAt(record, key)).find((found) => isPlain(found));
  const text = describe(speaking ?? value);
  return text === '' ? "That's done." : sentence(text);
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return cut(spokenText(value));
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return cut(value.slice(0, MAX_VALUES).map(describe).filter(Boolean).join(', '));
  return cut(
    Object.entries(value)
      .slice(0, MAX_VALUES)
      .map(([key, inner]) => [plainKey(key), describe(inner)] as const)
      .filter(([, inner]) => inner !== '')
      .map(([key, inner]) => `${key}: ${inner}`)
      .join(', '),
  );
}

function valueAt(record: object, key: string): unknown {
  return Object.entries(record).find(([name]) => name === key)?.[1];
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function plainKey(key: string): string {
  return key
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}

function sentence(text: string): string {
  if (text === '') return '';
  return /[.!?。！？]$/.test(text) ? capitalised(text) : `${capitalised(text)}.`;
}

function cut(text: string): string {
  return text.length > MAX_SPOKEN_CHARACTERS
    ? `${text.slice(0, MAX_SPOKEN_CHARACTERS).replace(/\s\S*$/, '')}.`
    : text;
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}
