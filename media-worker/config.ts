import { type Static, Type } from 'typebox';

const text = (description: string, defaultValue = '') => Type.String({ default: defaultValue, description });
const whole = (description: string, defaultValue: number, minimum: number, maximum: number) =>
  Type.Integer({ default: defaultValue, minimum, maximum, description });

/** Every setting of a media worker: environment variable, default, and what changes with it. */
export const WorkerSettings = Type.Object({
  PARLEY_WORKER_HOST: text(
    'Address the worker listens on. Loopback keeps it to this machine; 0.0.0.0 opens it to the network.',
    '127.0.0.1',
  ),
  PARLEY_WORKER_PORT: whole('TCP port for signalling, WHIP and speech. 0 takes a free one.', 8081, 0, 65_535),
  PARLEY_WORKER_PUBLIC_URL: text(
    'Address under which callers reach this worker, http or https. Empty: http://host:port as it listens.',
  ),
  PARLEY_WORKER_CAPACITY: whole(
    'Most sessions at once. More than a core carries makes every call stutter.',
    40,
    1,
    1_000,
  ),
  PARLEY_CONTROL_ADDRESSES: text(
    'gRPC addresses of all control-plane replicas, comma-separated. The worker links to each.',
    '127.0.0.1:8082',
  ),
  PARLEY_GRPC_TLS_CA: text(
    'File of the certificate authority of the link (PEM). With the next two it makes the link mutual TLS.',
  ),
  PARLEY_GRPC_TLS_CERT: text('File of this process’s certificate for the link (PEM).'),
  PARLEY_GRPC_TLS_KEY: text('File of this process’s key for the link (PEM).'),
  PARLEY_TLS_CERT: text(
    'File of the certificate for https and wss (PEM). Browsers open the microphone only on https or localhost.',
  ),
  PARLEY_TLS_KEY: text('File of the key for https and wss (PEM).'),
  PARLEY_DATA_DIR: text(
    'Directory for what must survive a restart: unsent session events, the recogniser’s environment.',
    'data',
  ),
  PARLEY_JOIN_PUBLIC_KEY: text(
    'Public Ed25519 key (PEM, or a file of it) that join tokens are checked with. Empty: join-public-key.pem in the data directory.',
  ),
  PARLEY_SOCKET_SERVER: Type.Union([Type.Literal('auto'), Type.Literal('uws'), Type.Literal('node')], {
    default: 'auto',
    description:
      'Which socket server runs: uws is the faster one, node needs no native code; auto takes uws where its binary fits.',
  }),
  PARLEY_UDP_PORT_MIN: whole(
    'First UDP port for media. Each session takes two; ranges of several workers must not overlap. 0: any port.',
    0,
    0,
    65_535,
  ),
  PARLEY_UDP_PORT_MAX: whole('Last UDP port for media. 0: any port.', 0, 0, 65_535),
  PARLEY_ADVERTISED_ADDRESSES: text(
    'Addresses that clients are told to send media to, comma-separated; `public/local` for 1:1 NAT. Empty: all of this machine.',
  ),
  PARLEY_ICE_SERVERS: text(
    'STUN and TURN servers as a JSON list of {urls, username, credential}, for the worker and for clients.',
    '[]',
  ),
  PARLEY_ICE_RELAY_ONLY: Type.Boolean({
    default: false,
    description: 'Only TURN candidates are used: for networks that allow nothing else.',
  }),
  PARLEY_OPUS_BITRATE_BPS: whole(
    'Opus bitrate of the agent’s voice. 80000 costs a third less CPU than the default of 32000; 0 leaves it to the client.',
    80_000,
    0,
    510_000,
  ),
  PARLEY_PYTHON: text('Python 3 that the built-in recogniser’s environment is made with.', 'python3'),
  PARLEY_STDIN_GUARD: text('1: the process ends when its standard input closes. Set by the local launcher.'),
  PARLEY_LOG_LEVEL: text('error, warn, info or debug.', 'info'),
  PARLEY_LOG_PII: Type.Boolean({
    default: false,
    description: 'Writes personal data (transcripts, numbers) to the log. For debugging on your own data.',
  }),
  PARLEY_FFMPEG: text(
    'Program that decodes AAC (m4a) uploads. Where it is missing they are refused with 415.',
    'ffmpeg',
  ),
  PARLEY_SPEECH_IN_FLIGHT: whole(
    'Synthesis and recognition requests of one workspace at once on this worker; more are 429.',
    15,
    1,
    10_000,
  ),
  TTS_MAX_TEXT_CHARACTERS: whole(
    'Longest text of a synthesis request; on a realtime socket, the most that may wait to be spoken.',
    20_000,
    1,
    200_000,
  ),
  TTS_LIVE_IDLE_S: whole(
    'A realtime synthesis socket is closed after so many silent seconds.',
    300,
    5,
    86_400,
  ),
  TTS_CACHE_BYTES: whole(
    'Memory for short phrases that were spoken before; they are spoken again without an engine. 0 keeps none.',
    16_000_000,
    0,
    1_000_000_000,
  ),
  ASR_UPLOAD_MAX_BYTES: whole(
    'Longest upload to recognition in bytes; longer ones are 413.',
    20_000_000,
    1_000,
    1_000_000_000,
  ),
  ASR_UPLOAD_MAX_S: whole('Longest audio that recognition takes, in seconds.', 3_600, 1, 86_400),
  ASR_UPLOAD_PARALLEL: whole(
    'Parts of one upload that are recognised at once. More is sooner done and leaves callers fewer recognisers.',
    2,
    1,
    32,
  ),
  ASR_BUILTIN_MAX: whole(
    'Most callers the built-in recogniser hears at once; further calls take typed text only.',
    4,
    1,
    64,
  ),
  ASR_BASE_URL: text('OpenAI-compatible endpoint for recognition. Empty: the built-in recogniser (English).'),
  ASR_API_KEY: text('Key of that endpoint; sent as a bearer token.'),
  ASR_MODEL: text('Model to ask that endpoint for.', 'whisper-1'),
  TTS_BASE_URL: text('OpenAI-compatible endpoint for speech. Empty: the built-in voices.'),
  TTS_API_KEY: text('Key of that endpoint; sent as a bearer token.'),
  TTS_MODEL: text('Model to ask that endpoint for.', 'tts-1'),
  TTS_VOICE: text('Voice to ask that endpoint for; an agent may name another one of its voices.', 'alloy'),
  LLM_BASE_URL: text('OpenAI-compatible endpoint for replies. Empty: the built-in responder.'),
  LLM_API_KEY: text('Key of that endpoint; sent as a bearer token.'),
  LLM_MODEL: text('Model to ask that endpoint for.', 'gpt-4o-mini'),
});
export type WorkerSettings = Static<typeof WorkerSettings>;
