import { type Static, Type } from 'typebox';

const text = (description: string, defaultValue = '') => Type.String({ default: defaultValue, description });
const whole = (description: string, defaultValue: number, minimum: number, maximum: number) =>
  Type.Integer({ default: defaultValue, minimum, maximum, description });
const hostAndPort = (description: string, defaultValue: string) =>
  Type.String({ default: defaultValue, pattern: '^(\\[[0-9a-fA-F:]+\\]|[^:\\s]+):\\d{1,5}$', description });
const oneOf = <T extends string>(values: readonly T[], defaultValue: T, description: string) =>
  Type.Enum([...values], { default: defaultValue, description });

const DAY_S = 86_400;

/** Every setting of the control plane: environment variable, default, unit, and what changes with it. */
export const ControlPlaneSettings = Type.Object({
  PARLEY_HOST: text(
    'Address the API listens on. Loopback keeps it to this machine; 0.0.0.0 opens it to the network.',
    '127.0.0.1',
  ),
  PARLEY_PORT: whole('TCP port of the API and the console. 0 takes a free one.', 8080, 0, 65_535),
  PARLEY_PUBLIC_URL: text(
    'Address under which clients reach the API, http or https, as it is printed and handed out. Empty: as it listens.',
  ),
  PARLEY_TLS_CERT: text(
    'File of the certificate for https (PEM). Without it, or a TLS proxy, the API is plain http.',
  ),
  PARLEY_TLS_KEY: text('File of the key for https (PEM).'),
  PARLEY_TRUSTED_PROXY_HOPS: whole(
    'Reverse proxies in front whose X-Forwarded-For is believed. Too many let callers choose the address they are limited by.',
    0,
    0,
    10,
  ),
  PARLEY_GRPC_ADDRESS: hostAndPort(
    'host:port that media workers dial. Port 0 takes a free one.',
    '127.0.0.1:8082',
  ),
  PARLEY_GRPC_TLS_CA: text(
    'File of the authority of the link to workers (PEM). With the next two it is mutual TLS; without them keep it on loopback.',
  ),
  PARLEY_GRPC_TLS_CERT: text('File of this process’s certificate for the link (PEM).'),
  PARLEY_GRPC_TLS_KEY: text('File of this process’s key for the link (PEM).'),
  PARLEY_ADMIN_ADDRESS: hostAndPort('host:port of /metrics. Never open it to the public.', '127.0.0.1:8083'),
  PARLEY_DATA_DIR: text('Directory of the embedded store and of the keys made on the first start.', 'data'),
  PARLEY_STORE_SYNCHRONOUS: oneOf(
    ['FULL', 'NORMAL'],
    'FULL',
    'Embedded store: FULL keeps every acknowledged write through a power cut, NORMAL may lose the last ones and is faster.',
  ),
  MONGO_URL: text(
    'MongoDB to keep records in. Empty: the embedded store in the data directory, for one control plane.',
  ),
  MONGO_DATABASE: text('Name of its database.', 'parley'),
  REDIS_URL: text('Redis that replicas coordinate by. Empty: in memory, for one control plane.'),
  PARLEY_SECRET_KEY: text(
    'Master keys for stored secrets and API keys: 32 bytes as base64, comma-separated. The first is used, all are read; losing one loses what it sealed. Empty: made once in the data directory, with the embedded store alone.',
  ),
  PARLEY_JOIN_PRIVATE_KEY: text(
    'Ed25519 key (PKCS #8 PEM, or a file of it) that signs join tokens; the same on all replicas. Empty: made once in the data directory, with the embedded store alone.',
  ),
  PARLEY_JOIN_WINDOW_S: whole('Seconds from creating a session to its first join.', 300, 5, DAY_S),
  PARLEY_PUBLIC_JOIN_WINDOW_S: whole('The same for sessions without an API key.', 60, 5, DAY_S),
  PARLEY_RECONNECT_WINDOW_MS: whole(
    'Milliseconds a dropped caller may take to come back before the session ends.',
    15_000,
    0,
    300_000,
  ),
  PARLEY_PUBLIC_SESSIONS_PER_IP_MINUTE: whole(
    'Sessions without an API key per client address and minute.',
    10,
    0,
    100_000,
  ),
  PARLEY_PUBLIC_SESSIONS_PER_AGENT_MINUTE: whole(
    'Sessions without an API key per agent and minute.',
    60,
    0,
    100_000,
  ),
  PARLEY_PRICE_AGENT_MINUTE_MICROS: whole(
    'Price of a minute of conversation in millionths of one credit; charged up front, settled per second.',
    60_000,
    0,
    1_000_000_000,
  ),
  PHONE_CARRIER: oneOf(
    ['none', 'test'],
    'none',
    'Telephony provider. none: numbers can be imported, nothing can be rented or called. test: made-up numbers and calls inside this process, for development; the last digits of a number decide what happens.',
  ),
  PARLEY_PHONE_OUTBOUND: Type.Boolean({
    default: true,
    description: 'false refuses every outbound phone call.',
  }),
  PARLEY_PHONE_NUMBERS_PER_TEAM: whole('Live phone numbers a workspace may hold.', 10, 0, 1_000),
  PARLEY_PHONE_CALLS_AT_ONCE: whole('Outbound phone calls of a workspace at once.', 10, 0, 1_000),
  PARLEY_PHONE_CALLS_PER_DAY: whole(
    'Outbound phone calls of a workspace per UTC day; refused tries count.',
    200,
    0,
    1_000_000,
  ),
  PARLEY_PRICE_NUMBER_DAY_MICROS: whole(
    'Price of a rented phone number per UTC day in millionths of one credit.',
    40_000,
    0,
    1_000_000_000,
  ),
  PARLEY_PRICE_PHONE_MINUTE_MICROS: whole(
    'What a minute of conversation costs more on the phone, in millionths of one credit.',
    10_000,
    0,
    1_000_000_000,
  ),
  PARLEY_PRICE_TTS_BYTE_MICROS: whole(
    'Price of a UTF-8 byte of spoken text in millionths of one credit. The free model costs nothing.',
    15,
    0,
    1_000_000_000,
  ),
  PARLEY_PRICE_ASR_SECOND_MICROS: whole(
    'Price of a second of recognised audio in millionths of one credit.',
    100,
    0,
    1_000_000_000,
  ),
  PARLEY_MAX_BODY_BYTES: whole(
    'Longest JSON body in bytes; longer ones are 413.',
    1_000_000,
    1_000,
    100_000_000,
  ),
  PARLEY_REPLY_CHECK: oneOf(
    ['report', 'refuse'],
    'report',
    'A reply that breaks its own schema is logged and sent (report) or becomes a 500 (refuse: tests, development).',
  ),
  OUTBOUND_ALLOW_HOSTS: text(
    'host:port pairs, comma-separated, that webhooks, tools and custom models may reach although they are private. For development.',
  ),
  LLM_BASE_URL: text(
    'OpenAI-compatible endpoint that reads finished conversations. Empty: summaries are quotes, nothing is judged.',
  ),
  LLM_API_KEY: text('Key of that endpoint; sent as a bearer token.'),
  LLM_MODEL: text(
    'Model of the workers’ language-model endpoint; agents may name it besides `default`.',
    'gpt-4o-mini',
  ),
  PARLEY_LOG_LEVEL: oneOf(
    ['error', 'warn', 'info', 'debug'],
    'info',
    'Least important lines that are written.',
  ),
  PARLEY_LOG_PII: Type.Boolean({
    default: false,
    description: 'Writes personal data (transcripts, numbers) to the log. For debugging on your own data.',
  }),
  PARLEY_STDIN_GUARD: text('1: the process ends when its standard input closes. Set by the local launcher.'),
});
export type ControlPlaneSettings = Static<typeof ControlPlaneSettings>;
