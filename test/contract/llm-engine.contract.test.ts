import { BuiltinResponder } from '../../media-worker/llm/engines/builtin-responder.ts';
import { systemClock } from '../../shared/time.ts';
import { FakeLlm, says } from '../fakes/fake-llm.ts';
import { chunk, completion } from '../support/openai-stub.ts';
import { llmEngineContract } from './llm-engine.contract.ts';
import { openAiSubject } from './openai-llm-subject.ts';

llmEngineContract('the fake', {
  talks: async () => ({ engine: new FakeLlm(systemClock, [says('It is eighty dollars.')]) }),
  callsTool: async () => ({
    engine: new FakeLlm(systemClock, [
      [{ type: 'tool_call', call: { callId: 'a', name: 'get_weather', argumentsJson: '{"city":"Paris"}' } }],
    ]),
  }),
  fails: async () => ({ engine: new FakeLlm(systemClock, [[{ type: 'fail' }]]) }),
});

llmEngineContract('the built-in responder', {
  talks: async () => ({ engine: new BuiltinResponder() }),
  callsTool: async () => ({ engine: new BuiltinResponder() }),
  fails: null,
});

llmEngineContract('an OpenAI-compatible service', {
  talks: () =>
    openAiSubject([completion({ role: 'assistant' }, { content: 'It is ' }, { content: 'eighty dollars.' })]),
  callsTool: () =>
    openAiSubject([
      {
        headers: { 'content-type': 'text/event-stream' },
        steps: [
          chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'get_weather', arguments: '' } }] }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: '{"ci' } }] }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: 'ty":"Paris"}' } }] }, 'tool_calls'),
          'data: [DONE]\n\n',
        ],
      },
    ]),
  fails: () => openAiSubject([{ status: 500, steps: ['{"error":"down"}'] }]),
});
