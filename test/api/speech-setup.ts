import { Registry } from 'prom-client';
import type { AsrEngine } from '../../media-worker/asr/asr-engine.ts';
import { noRecogniser } from '../../media-worker/asr/no-recogniser.ts';
import type { KeyOwner } from '../../media-worker/coordination/control-calls.ts';
import { corsHeaders } from '../../media-worker/ingress/cors.ts';
import { openSocketServer } from '../../media-worker/ingress/open-socket-server.ts';
import type { SpeechSettings } from '../../media-worker/speech/speech-settings.ts';
import type { TtsEngine } from '../../media-worker/tts/tts-engine.ts';
import { createWorkerSpeech } from '../../media-worker/worker-speech.ts';
import { Failure } from '../../shared/errors.ts';
import type { SpeechUsage } from '../../shared/generated/parley/v1/control.ts';
import { silentLogger } from '../../shared/log.ts';
import { type Clock, systemClock } from '../../shared/time.ts';
import { FakeTts } from '../fakes/fake-tts.ts';
import { createLoudnessVad } from '../fakes/loudness-vad.ts';
import { SPEECH_SETTINGS } from '../support/speech-settings.ts';

export const API_KEY = 'pk-speech';
export interface SpeechSetup {
  readonly baseUrl: string;
  readonly port: number;
  readonly tts: FakeTts;
  /** What has been settled, in order. */
  readonly usage: SpeechUsage[];
  readonly registry: Registry;
  /** What the control plane says of the key. */
  readonly account: { isOutOfCredit: boolean; isRevoked: boolean; asked: number };
  /** A POST with the key; headers may be added or, with undefined, taken away. */
  post(path: string, body: unknown, headers?: Record<string, string | undefined>): Promise<Response>;
  stop(): Promise<void>;
}

export interface SpeechSetupOptions {
  readonly settings?: Partial<SpeechSettings>;
  readonly tts?: TtsEngine;
  readonly asr?: AsrEngine;
  readonly clock?: Clock;
  readonly implementation?: 'uws' | 'node';
}

/** The speech API on a port of its own, with a voice of 1000 Hz tones and a control plane that knows one key. */
export async function setUpSpeech(options: SpeechSetupOptions = {}): Promise<SpeechSetup> {
  const clock = options.clock ?? systemClock;
  const tts = new FakeTts({ clock, sampleRateHz: 24_000, languages: ['en', 'de', 'ja'] });
  const usage: SpeechUsage[] = [];
  const account = { isOutOfCredit: false, isRevoked: false, asked: 0 };
  const registry = new Registry();
  const errors: unknown[] = [];
  const speech = createWorkerSpeech({
    engines: { tts: options.tts ?? tts, asr: options.asr ?? noRecogniser('none'), vad: createLoudnessVad() },
    calls: {
      authenticateKey: async (apiKey): Promise<KeyOwner> => {
        account.asked++;
        if (apiKey !== API_KEY || account.isRevoked) throw new Failure('invalid_token', 'Invalid token');
        return { workspaceId: 'ws1', userId: 'u1', keyId: 'k1', isOutOfCredit: account.isOutOfCredit };
      },
      resolveVoice: async (id) => (id === VOICE_DE ? { voice: 'anna', language: 'de' } : null),
      reportUsage: async (entries) => void usage.push(...entries),
    },
    settings: { ...SPEECH_SETTINGS, ...options.settings },
    registry,
    clock,
    log: silentLogger,
  });
  const server = await openSocketServer({
    settings: { implementation: options.implementation ?? 'uws', host: '127.0.0.1', port: 0, tls: null },
    http: speech.http,
    sockets: speech.sockets,
    headersFor: corsHeaders,
    report: (error) => errors.push(error),
  });
  await speech.start();
  const baseUrl = `http://127.0.0.1:${server.port}`;
  return {
    baseUrl,
    port: server.port,
    tts,
    usage,
    registry,
    account,
    post: (path, body, headers = {}) => post(`${baseUrl}${path}`, body, headers),
    stop: async () => {
      speech.goAway();
      await server.close();
      await speech.stop();
      if (errors.length > 0) throw new AggregateError(errors, 'requests failed');
    },
  };
}

/** A voice of the workspace that is no built-in one. */
export const VOICE_DE = 'abcdefabcdefabcdefabcdefabcdefab';

function post(url: string, body: unknown, headers: Record<string, string | undefined>): Promise<Response> {
  const all: Record<string, string | undefined> = {
    authorization: `Bearer ${API_KEY}`,
    'content-type': 'application/json',
    ...headers,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const isRaw =
    typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData || body === null;
  return fetch(url, {
    method: 'POST',
    headers: given,
    body: isRaw ? (body as string | Uint8Array<ArrayBuffer> | FormData | null) : JSON.stringify(body),
    signal: AbortSignal.timeout(15_000),
  });
}
