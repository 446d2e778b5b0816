import { OpenAiLlm, type OpenAiLlmSettings } from '../../media-worker/llm/engines/openai/openai-llm.ts';
import { createOutgoingClient } from '../../shared/outgoing/outgoing-client.ts';
import { resolveWithSystem } from '../../shared/outgoing/system-resolver.ts';
import { systemClock } from '../../shared/time.ts';
import { OpenAiStub, type StubAnswer } from '../support/openai-stub.ts';

/** The engine in front of a service on loopback that gives these answers. */
export async function openAiSubject(
  answers: readonly StubAnswer[],
  settings: Partial<OpenAiLlmSettings> = {},
  pathAfterBase = '',
) {
  const stub = new OpenAiStub();
  const baseUrl = await stub.start();
  stub.willAnswer(...answers);
  const http = createOutgoingClient({ resolve: resolveWithSystem, allowHosts: [stub.host] });
  const engine = new OpenAiLlm(
    { http, clock: systemClock },
    {
      baseUrl: `${baseUrl}${pathAfterBase}`,
      apiKey: 'secret',
      model: 'm-1',
      sendsSessionFields: false,
      ...settings,
    },
  );
  const dispose = async () => {
    await http.close();
    await stub.stop();
  };
  return { engine, stub, dispose };
}
