import type { DescribedSchema } from './openapi-document.ts';

const MAX_DEPTH = 8;
const EXAMPLE_TIME = '2026-03-02T09:30:00.000Z';
const HEX_ID = '4f1c2a9be07d4f3c8a5b6d7e8f901234';
const SESSION_ID = 'ses_01jnqv7h2m8k4t6wz0r5c9x3ab';

/** What fields of these names usually hold. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  agent_id: HEX_ID,
  workspace_id: '9a8b7c6d5e4f40318273645546372819',
  session_id: SESSION_ID,
  tool_id: 'c0ffee254729296a45a3885639ac7e10',
  knowledge_source_id: 'b7e23ec29af22b0b4e41da31e868d572',
  phone_number_id: 'd41d8cd98f00b204e9800998ecf8427e',
  user_id: '0cc175b9c0f1b6a831c399e269772661',
  name: 'Front desk',
  agent_name: 'Front desk',
  description: 'Answers questions about opening hours and takes messages.',
  system_prompt: 'You answer the phone of a small hotel. Be brief and friendly.',
  first_message: 'Good morning, how can I help you?',
  url: 'https://hooks.example.com/parley',
  base_url: 'https://llm.example.com/v1',
  timezone: 'Europe/Lisbon',
  client_timezone: 'Europe/Lisbon',
  caller_number: '+14155550123',
  dialed_number: '+14155550199',
  phone_number: '+14155550199',
  from_number: '+14155550199',
  to_number: '+14155550123',
  config_hash: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  rtc_url: 'wss://media.example.com',
  token: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJjYWxsZXIifQ.c2lnbmF0dXJl',
  credit: '97.40',
  cumulative_top_up: '100.00',
  next_cursor: null,
  has_more: false,
  total: null,
  cursor: 'djEuWyJzZXNfMDFqbnF2N2gyIl0.3q2-7w',
  version_number: 3,
  page: 1,
  secret: 'whsec_example',
  api_key: 'sk-example',
  end_user_id: 'customer-4711',
  metadata: { order: 4711 },
  dynamic_variables: { first_name: 'Ana' },
  source_id: 'b7e23ec29af22b0b4e41da31e868d572',
  end_reason: 'user_hangup',
  dial_status: null,
  answered_by: null,
  content: 'Are you open on Sundays?',
  turn_id: 1,
  unattributed_llm_usage: [],
  analysis: null,
  file_name: 'opening-hours.md',
  size_bytes: 1840,
  chunk_count: 3,
  revision_number: 1,
  error: null,
  error_code: null,
  error_message: null,
  status_code: 200,
  duration_seconds: 94,
  max_duration_seconds: 1800,
  expires_at: '2026-03-02T09:35:00.000Z',
  ended_at: '2026-03-02T09:31:34.000Z',
};

type Resolve = (schema: DescribedSchema) => DescribedSchema;

/**
 * An example of a described schema: its own `examples`, else its default, else what a field of this name usually
 * holds, else the simplest value its rules allow. `resolve` follows a `$ref`.
 */
export function exampleOf(schema: DescribedSchema, name: string, resolve: Resolve, depth = 0): unknown {
  const given = [schema, resolve(schema)].find((s) => 'examples' in s || 'default' in s);
  const [first] = (given?.['examples'] ?? []) as readonly unknown[];
  if (first !== undefined) return first;
  const rules = resolve(schema);
  const isContainer = rules['properties'] !== undefined;
  if (Object.hasOwn(BY_NAME, name) && fits(rules, BY_NAME[name], resolve)) return BY_NAME[name];
  if (given && 'default' in given && !isContainer && !isEmptyText(given['default'])) return given['default'];
  return byRules(rules, name, resolve, depth);
}

function byRules(rules: DescribedSchema, name: string, resolve: Resolve, depth: number): unknown {
  if ('const' in rules) return rules['const'];
  if (Array.isArray(rules['enum'])) return rules['enum'][0];
  const union = (rules['anyOf'] ?? rules['oneOf']) as readonly DescribedSchema[] | undefined;
  if (union) {
    const meant = union.find((branch) => resolve(branch)['type'] !== 'null') ?? {};
    return depth >= MAX_DEPTH ? null : exampleOf(meant, name, resolve, depth + 1);
  }
  switch ([rules['type']].flat()[0]) {
    case 'object':
      return objectExample(rules, resolve, depth);
    case 'array': {
      const items = rules['items'] as DescribedSchema | undefined;
      return items && depth < MAX_DEPTH ? [exampleOf(items, singular(name), resolve, depth + 1)] : [];
    }
    case 'integer':
    case 'number':
      return Math.max(Number(rules['minimum'] ?? 1), Math.min(60, Number(rules['maximum'] ?? 60)));
    case 'boolean':
      return false;
    case 'string':
      return textExample(rules, name);
    default:
      return null;
  }
}

function objectExample(rules: DescribedSchema, resolve: Resolve, depth: number): Record<string, unknown> {
  if (depth >= MAX_DEPTH) return {};
  const properties = (rules['properties'] ?? {}) as Readonly<Record<string, DescribedSchema>>;
  return Object.fromEntries(
    Object.entries(properties).map(([key, schema]) => [key, exampleOf(schema, key, resolve, depth + 1)]),
  );
}

function textExample(rules: DescribedSchema, name: string): string {
  const { format, pattern } = rules;
  if (format === 'date-time') return EXAMPLE_TIME;
  if (format === 'binary') return 'Opening hours: 9 to 17, Monday to Friday.';
  if (name.endsWith('_at')) return EXAMPLE_TIME;
  if (name.endsWith('_id') || name === '_id' || name === 'id') return HEX_ID;
  const words = name.replaceAll('_', ' ') || 'text';
  const candidates = [words, name.toLowerCase(), 'https://www.example.com', 'text'];
  const fitting = candidates.find(
    (text) => typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text),
  );
  return (fitting ?? words).slice(0, Number(rules['maxLength'] ?? 120));
}

/** Whether the schema's own type, pattern and length allow a value; what is inside it is the table's care. */
function fits(rules: DescribedSchema, value: unknown, resolve: Resolve): boolean {
  const union = (rules['anyOf'] ?? rules['oneOf']) as readonly DescribedSchema[] | undefined;
  if (union) return union.some((branch) => fits(resolve(branch), value, resolve));
  if (rules['enum'] !== undefined || rules['const'] !== undefined) return false;
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const allowed = [rules['type']].flat();
  if (!allowed.includes(type) && !(type === 'number' && allowed.includes('integer'))) return false;
  if (typeof value !== 'string') return true;
  const { pattern, maxLength = Number.POSITIVE_INFINITY } = rules;
  return (
    value.length <= Number(maxLength) && (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(value))
  );
}

function isEmptyText(value: unknown): boolean {
  return value === '';
}

function singular(name: string): string {
  return name.endsWith('s') ? name.slice(0, -1) : name;
}
