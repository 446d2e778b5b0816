import { expect, test } from 'vitest';
import type { ChatMessage, LlmTool } from '../llm-engine.ts';
import { greetingInstruction, systemMessage } from '../prompt.ts';
import { BuiltinResponder } from './builtin-responder.ts';

const PROMPT = `You are Ava, the receptionist of Blue Door Dental. Be friendly and keep answers short.
Blue Door Dental is open Monday to Friday from nine to five. On Saturday we are open until noon.
Tell callers that a cleaning costs eighty dollars. You are located at 12 Main Street, next to the post office.
Always ask for the caller's name. If someone asks about parking, say "There is free parking behind the house."
Never talk about politics.`;
const KNOWLEDGE = `# Insurance
We accept Delta and Cigna insurance.
# Whitening
Q: How long does whitening take?
A: Whitening takes about one hour.
# Dentists
Dr. Miller treats children. Dr. Chen does implants.`;

const HANG_UP: LlmTool = {
  name: 'hang_up_call',
  description: 'Ends the call.',
  parameters: { type: 'object' },
};
const WEATHER: LlmTool = {
  name: 'get_weather',
  description: 'Current weather forecast of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const BOOKING: LlmTool = {
  name: 'book_appointment',
  description: 'Books an appointment for a patient',
  parameters: {
    type: 'object',
    properties: {
      date: { type: 'string' },
      name: { type: 'string' },
      kind: { type: 'string', enum: ['cleaning', 'checkup'] },
    },
    required: ['date'],
  },
};

function setUp({ tools = [] as readonly LlmTool[], language = 'en', prompt = PROMPT } = {}) {
  const responder = new BuiltinResponder();
  const system = systemMessage(
    { systemPrompt: prompt, knowledge: KNOWLEDGE, language, hasWorldContext: true, timeZone: 'UTC' },
    Date.UTC(2026, 4, 5, 14, 30),
  );
  const messages: ChatMessage[] = [system];

  async function reply(extra: readonly ChatMessage[] = []) {
    let text = '';
    const calls: { name: string; args: unknown }[] = [];
    let pieces = 0;
    const request = { messages: [...messages, ...extra], tools, sessionId: 's', endUserId: '', language };
    for await (const event of responder.reply(request, new AbortController().signal)) {
      pieces++;
      if (event.type === 'text') text += event.text;
      if (event.type === 'tool_call') {
        calls.push({ name: event.call.name, args: JSON.parse(event.call.argumentsJson) });
        messages.push({ role: 'assistant', content: text, toolCalls: [event.call] });
      }
    }
    return { text, calls, pieces };
  }

  /** One turn: what the agent answers to `text`; of the answer the caller hears `heardWords`, or all. */
  async function say(text: string, heardWords?: number) {
    messages.push({ role: 'user', content: text });
    const answer = await reply();
    const heard = answer.text.split(' ').slice(0, heardWords);
    if (answer.calls.length === 0)
      messages.push({ role: 'assistant', content: heardWords ? `${heard.join(' ')} …` : answer.text });
    return answer;
  }
  return { reply, say, messages };
}

test.each([
  ['what are your opening hours', 'nine to five'],
  ['when do you close on saturday', 'until noon'],
  ['how much is a cleaning', 'eighty dollars'],
  ['where are you located', 'We are located at 12 Main Street'],
  ['where can i park', 'free parking'],
  ['do you take cigna', 'Delta and Cigna'],
  ['how long does whitening take', 'about one hour'],
  ['who treats children', 'Dr. Miller treats children.'],
])('"%s" is answered from prompt and knowledge', async (question, fact) => {
  expect((await setUp().say(question)).text).toContain(fact);
});

test('instructions to the agent are never read to the caller', async () => {
  const { text } = await setUp().say('tell me everything you know');

  expect(text).toContain('nine to five');
  expect(text).toContain('Dr. Chen');
  for (const instruction of ['Be friendly', 'politics', "caller's name", 'You are', 'If someone'])
    expect(text).not.toContain(instruction);
});

test('what it was not told it does not make up: it says so and asks back', async () => {
  const { text } = await setUp().say('can you explain quantum physics');

  expect(text).toBe(
    "I don't have anything about that. I can tell you about parking, Insurance or Dentists. What would you like to know?",
  );
});

test('with an empty prompt it still answers, honestly', async () => {
  const call = setUp({ prompt: '' });

  expect((await call.say('hello')).text).toBe('Hello! How can I help you?');
  expect((await setUp({ prompt: '' }).say('do you sell bread')).text).not.toBe('');
});

test.each(['who are you', 'are you a real person', 'am i talking to a robot', "what's your name"])(
  '"%s" gets the truth',
  async (question) => {
    const { text } = await setUp().say(question);

    expect(text).toContain("I'm Parley's built-in responder, not a person and not a language model.");
    expect(text).toContain('Ava, the receptionist of Blue Door Dental');
  },
);

test('it opens the call as the one whom the prompt names', async () => {
  const { text } = await setUp().reply([greetingInstruction('Greet the caller.')]);

  expect(text).toBe('Hello, this is Ava, the receptionist of Blue Door Dental. How can I help you today?');
});

test('a greeting that is given in quotes is said as it stands', async () => {
  const { text } = await setUp().reply([greetingInstruction('Say "Blue Door, good morning!"')]);

  expect(text).toBe('Blue Door, good morning!');
});

test('a name and a number are confirmed and known later', async () => {
  const call = setUp();

  expect((await call.say('my name is john smith')).text).toBe(
    'Nice to meet you, John Smith. How can I help you?',
  );
  expect((await call.say('my number is five five five one two three four')).text).toBe(
    'I have 5 5 5 1 2 3 4. Is that right?',
  );
  expect((await call.say('yes')).text).toContain('noted');
  expect((await call.say('what is my name')).text).toBe('You told me your name is John Smith.');
  expect((await call.say('what number did i give you')).text).toContain('5 5 5 1 2 3 4');
});

test.each(["i'm looking for a dentist", 'i am very tired', 'this is not good'])(
  '"%s" gives no name',
  async (text) => {
    expect((await setUp().say(text)).text).not.toContain('Nice to meet you');
  },
);

test('asked again, it repeats its last words', async () => {
  const call = setUp();
  await call.say('how much is a cleaning');

  expect((await call.say('could you repeat that please')).text).toBe(
    'I said: A cleaning costs eighty dollars.',
  );
});

test('the time comes from the clock of the call', async () => {
  expect((await setUp().say('what time is it')).text).toBe('It is Tuesday, 5 May 2026 at 14:30.');
});

test.each(["what's the time please", 'what day is it today', 'what is the date'])(
  '"%s" asks for the clock',
  async (text) => {
    expect((await setUp().say(text)).text).toContain('5 May 2026');
  },
);

test('"i am" is not about opening hours', async () => {
  expect((await setUp().say('i am in pain')).text).not.toMatch(/\bopen\b/i);
});

test.each(['what time is a cleaning', 'i would like to know what time the cleaning is tomorrow'])(
  '"%s" is about something else',
  async (text) => {
    expect((await setUp().say(text)).text).not.toContain('5 May 2026');
  },
);

test.each(['goodbye', 'okay thank you bye', "that's all thanks", 'have a nice day'])(
  '"%s" ends the call when the tool for it is offered',
  async (text) => {
    const answer = await setUp({ tools: [HANG_UP, WEATHER] }).say(text);

    expect(answer.text).toContain('Goodbye');
    expect(answer.calls).toEqual([{ name: 'hang_up_call', args: {} }]);
  },
);

test('without the tool a goodbye is only answered', async () => {
  const answer = await setUp().say('goodbye');

  expect(answer.text).toContain('Goodbye');
  expect(answer.calls).toEqual([]);
});

test('after hanging up it says nothing more', async () => {
  const call = setUp({ tools: [HANG_UP] });
  await call.say('bye');
  call.messages.push({ role: 'tool', callId: 'call_1', content: 'ok' });

  expect(await call.reply()).toEqual({ text: '', calls: [], pieces: 0 });
});

test('a tool whose description matches is called with its arguments, and its result is spoken', async () => {
  const call = setUp({ tools: [HANG_UP, WEATHER, BOOKING] });

  const asked = await call.say('what is the weather in san francisco today');
  call.messages.push({ role: 'tool', callId: 'call_1', content: '{"temperature":21,"sky":"clear"}' });
  const told = await call.reply();

  expect(asked.calls).toEqual([{ name: 'get_weather', args: { city: 'San Francisco' } }]);
  expect(told).toMatchObject({ text: 'Temperature: 21, sky: clear.', calls: [] });
});

test('a required argument that is missing is asked for, and the answer completes the call', async () => {
  const call = setUp({ tools: [BOOKING] });
  await call.say('my name is mary');

  const first = await call.say('i want to book an appointment for a cleaning');
  const second = await call.say('next friday please');

  expect(first).toMatchObject({ text: 'What is the date?', calls: [] });
  expect(second.calls).toEqual([
    { name: 'book_appointment', args: { name: 'Mary', kind: 'cleaning', date: 'next friday' } },
  ]);
});

test('a question that shares one word with a tool does not run it', async () => {
  const answer = await setUp({ tools: [BOOKING] }).say('how much is a cleaning');

  expect(answer.calls).toEqual([]);
  expect(answer.text).toContain('eighty dollars');
});

test('a failed tool is told as it is', async () => {
  const call = setUp({ tools: [WEATHER] });
  await call.say('what is the weather in paris');
  call.messages.push({ role: 'tool', callId: 'call_1', content: '{"error":"service is down"}' });

  expect((await call.reply()).text).toBe("I'm sorry, that did not work. Service is down.");
});

test('a long story has more than a minute of words, in small pieces', async () => {
  const { text, pieces } = await setUp().say('tell me a long story');

  expect(text.split(' ').length).toBeGreaterThan(180);
  expect(pieces).toBeGreaterThan(150);
});

test('counting goes where it was asked to', async () => {
  const { text } = await setUp().say('please count to thirty');

  expect(text).toMatch(/^One, two, three, four, five\. Six,/);
  expect(text).toMatch(/twenty-nine, thirty\.$/);
});

test('after an interruption it answers the new question', async () => {
  const call = setUp();
  await call.say('tell me a long story', 30);

  expect((await call.say('how much is a cleaning')).text).toBe('Okay. A cleaning costs eighty dollars.');
});

test('asked to go on, it says what was not heard', async () => {
  const call = setUp();
  const whole = await setUp().say('please count to thirty');
  await call.say('please count to thirty', 7);

  const rest = await call.say('go on');

  expect(rest.text).toBe(whole.text.split(' ').slice(7).join(' '));
});

test('"stop" is obeyed', async () => {
  const call = setUp();
  await call.say('tell me a long story', 12);

  expect((await call.say('stop')).text).toBe("Okay. I'm listening.");
});

test.each([
  ['de', 'wer sind sie', 'kein Sprachmodell'],
  ['es', 'hola', 'Hola'],
  ['fr', 'merci', 'Je vous en prie'],
  ['it', 'quanto costa un cane', 'Mi dispiace'],
  ['zh', '你是谁', '不是真人'],
  ['ja', 'こんにちは', 'こんにちは'],
  ['ko', '감사합니다', '천만에요'],
  ['pt', 'Cigna', 'Delta and Cigna'],
  ['nl', 'dank u', 'Graag gedaan'],
])('in %s, "%s" is answered in that language or from the text', async (language, text, answer) => {
  expect((await setUp({ language }).say(text)).text).toContain(answer);
});

test('a goodbye in another language hangs up too', async () => {
  const answer = await setUp({ language: 'de', tools: [HANG_UP] }).say('vielen dank, tschüss');

  expect(answer.calls).toEqual([{ name: 'hang_up_call', args: {} }]);
});

test('the same conversation always gets the same reply', async () => {
  const [first, second] = [setUp(), setUp()];

  for (const text of ['hello', 'i need help', 'what can you do'])
    expect(await first.say(text)).toEqual(await second.say(text));
});
