import { CONTENT_TYPES } from '../../codec/audio-format.ts';
import { alignmentOf } from '../../speech/alignment.ts';
import type { SpokenAudio } from '../../speech/spoken-audio.ts';
import type { Synthesis } from '../../speech/synthesize.ts';
import { ttsModel } from '../../speech/tts-models.ts';
import { type ResolveVoice, readTtsRequest, type TtsRequest } from '../../speech/tts-request.ts';
import type { TtsBody } from '../../speech/tts-schema.ts';
import type { HttpReply, HttpRequest, HttpRoute } from '../socket-server.ts';
import { type SpeechRequestContext, type SpeechRouteDeps, speechRoute } from './speech-route.ts';
import { readTtsBody } from './tts-body.ts';

/** References may come along with the text. */
const MAX_BODY_BYTES = 8_000_000;

export interface TtsRoutesDeps extends SpeechRouteDeps {
  /** Throws `Failure` 422. */
  readonly checkBody: (body: unknown) => TtsBody;
  readonly resolveVoice: ResolveVoice;
  readonly synthesis: Synthesis;
}

/** Synthesis over plain HTTP: audio as it is spoken, bare or with the times of its words. */
export function createTtsRoutes(deps: TtsRoutesDeps): HttpRoute[] {
  async function read(request: HttpRequest, context: SpeechRequestContext): Promise<TtsRequest> {
    const body = deps.checkBody(await readTtsBody(request));
    return readTtsRequest(
      body,
      ttsModel(request.header('model')),
      context.caller.workspaceId,
      deps.resolveVoice,
    );
  }

  async function speak(request: HttpRequest, context: SpeechRequestContext): Promise<HttpReply> {
    const wanted = await read(request, context);
    const audio = await deps.synthesis.speak({
      ...context,
      request: wanted,
      surface: 'rest',
      signal: request.signal,
    });
    return {
      status: 200,
      headers: { 'content-type': CONTENT_TYPES[wanted.format.codec] },
      body: bytesOf(audio),
    };
  }

  async function speakWithTimes(request: HttpRequest, context: SpeechRequestContext): Promise<HttpReply> {
    const wanted = await read(request, context);
    const audio = await deps.synthesis.speak({
      ...context,
      request: wanted,
      surface: 'sse',
      signal: request.signal,
    });
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
      body: eventsOf(audio),
    };
  }

  return [
    speechRoute(deps, { path: '/v1/tts', maxBodyBytes: MAX_BODY_BYTES, handle: speak }),
    speechRoute(deps, {
      path: '/v1/tts/stream/with-timestamp',
      maxBodyBytes: MAX_BODY_BYTES,
      handle: speakWithTimes,
    }),
  ];
}

async function* bytesOf(audio: AsyncIterable<SpokenAudio>): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of audio) yield bytes;
}

/** Server-sent events of the default type, one for each part of the audio. */
async function* eventsOf(audio: AsyncIterable<SpokenAudio>): AsyncGenerator<Uint8Array> {
  for await (const { bytes, chunk } of audio) {
    const event = { audio_base64: Buffer.from(bytes).toString('base64'), ...alignmentOf(chunk) };
    yield Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
  }
}
