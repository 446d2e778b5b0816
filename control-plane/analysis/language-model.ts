import type { OutgoingClient } from '../../shared/outgoing/outgoing-client.ts';

const MAX_REPLY_BYTES = 1024 * 1024;

/** An OpenAI-compatible service. */
export interface ModelEndpoint {
  /** With or without a trailing `/chat/completions`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
}

export interface ModelQuestion {
  readonly instructions: string;
  readonly input: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** The service answered, but not with a reply. */
export class ModelRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ModelRefusal';
  }
}

/**
 * Asks once and answers the reply's text. Throws `OutgoingError` or `ModelRefusal`, whose messages may be shown to
 * the agent's team.
 */
export async function askModel(
  http: Pick<OutgoingClient, 'request'>,
  endpoint: ModelEndpoint,
  question: ModelQuestion,
): Promise<string> {
  const base = endpoint.baseUrl.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  const answer = await http.request({
    url: `${base}/chat/completions`,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(endpoint.apiKey ? { authorization: `Bearer ${endpoint.apiKey}` } : {}),
    },
    body: JSON.stringify({
      model: endpoint.model,
      messages: [
        { role: 'system', content: question.instructions },
        { role: 'user', content: question.input },
      ],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'analysis', strict: true, schema: question.schema },
      },
    }),
    deadlineMs: question.deadlineMs,
    maxBytes: MAX_REPLY_BYTES,
    maxRedirects: 0,
    signal: question.signal,
  });
  if (answer.status !== 200) throw new ModelRefusal(`Language model answered ${answer.status}`);
  return contentOf(answer.body.toString('utf8'));
}

function contentOf(text: string): string {
  let reply: { choices?: { message?: { content?: unknown } }[] } | null;
  try {
    reply = JSON.parse(text);
  } catch {
    reply = null;
  }
  const content = reply?.choices?.[0]?.message?.content;
  if (typeof content === 'string') return content;
  throw new ModelRefusal('Language model gave no reply');
}
