import type { SpeechAdmission } from '../../speech/speech-admission.ts';
import type { Transcribing } from '../../speech/transcribe.ts';
import { jsonReply } from '../failure-reply.ts';
import type { HttpReply, HttpRequest, HttpRoute } from '../socket-server.ts';
import { readAsrBody } from './asr-body.ts';
import { type SpeechRequestContext, type SpeechRouteDeps, speechRoute } from './speech-route.ts';

/** What an upload may be longer than its audio: fields and the borders between them. */
const FORM_BYTES = 100_000;

export interface AsrRoutesDeps extends SpeechRouteDeps {
  readonly admission: Pick<SpeechAdmission, 'enter'>;
  readonly transcription: Transcribing;
  readonly maxUploadBytes: number;
}

/** Recognition of uploaded recordings. */
export function createAsrRoutes(deps: AsrRoutesDeps): HttpRoute[] {
  async function transcribe(
    request: HttpRequest,
    { caller, trace }: SpeechRequestContext,
  ): Promise<HttpReply> {
    // Before the upload: whoever has no place or no credit need not send it.
    const slot = deps.admission.enter(caller, false);
    try {
      const { audio, language } = await readAsrBody(request, deps.maxUploadBytes);
      const heard = await deps.transcription.transcribe({
        file: audio,
        language,
        caller,
        trace,
        signal: request.signal,
      });
      return jsonReply(200, heard);
    } finally {
      slot.release();
    }
  }

  return [
    speechRoute(deps, {
      path: '/v1/asr',
      maxBodyBytes: deps.maxUploadBytes + FORM_BYTES,
      handle: transcribe,
    }),
  ];
}
