import { type Static, type TSchema, Type } from 'typebox';
import {
  AgentConfig,
  LLM_KEY_MAX,
  WEBHOOK_COUNT_MAX,
  WEBHOOK_SECRET_MAX,
  WEBHOOK_URL_MAX,
} from '../../shared/agent-config.ts';

/** Every field may be left out, at every depth; what the merged document still lacks is found afterwards. */
type PatchOf<T> = T extends readonly (infer Item)[]
  ? PatchOf<Item>[]
  : T extends object
    ? { [K in keyof T]?: PatchOf<T[K]> }
    : T;

const url = Type.String({ minLength: 1, maxLength: WEBHOOK_URL_MAX });
/** Left out or null keeps the stored secret, the empty string deletes it. */
const writeOnly = (maxLength: number) => Type.Optional(Type.Union([Type.Null(), Type.String({ maxLength })]));

const PostCallEntry = Type.Object(
  { url, secret: writeOnly(WEBHOOK_SECRET_MAX) },
  { title: 'PostCallEntryPatch', additionalProperties: false },
);
export type PostCallEntry = Static<typeof PostCallEntry>;

const ConversationInit = Type.Object(
  {
    url: Type.Optional(url),
    secret: writeOnly(WEBHOOK_SECRET_MAX),
    timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 8 })),
  },
  { title: 'ConversationInitPatch', additionalProperties: false },
);
export type ConversationInitPatch = Static<typeof ConversationInit>;

const WebhooksPatch = Type.Object(
  {
    post_call: Type.Optional(
      Type.Union([Type.Null(), PostCallEntry, Type.Array(PostCallEntry, { maxItems: WEBHOOK_COUNT_MAX })], {
        description: 'The list is replaced as a whole; one object stands for a list of one; null empties it.',
      }),
    ),
    conversation_init: Type.Optional(
      Type.Union([Type.Null(), ConversationInit], {
        description: 'Asked for variables before an inbound phone call is answered; null removes it.',
      }),
    ),
  },
  { title: 'WebhooksPatch', additionalProperties: false },
);

const CustomLlm = Type.Object(
  {
    base_url: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
    model: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    api_key: writeOnly(LLM_KEY_MAX),
  },
  { title: 'CustomLlmPatch', additionalProperties: false },
);
export type CustomLlmPatch = Static<typeof CustomLlm>;

const LlmPatch = Type.Object(
  {
    tier: Type.Optional(Type.Enum(['instant', 'medium', 'high'])),
    model: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    custom: Type.Optional(Type.Union([Type.Null(), CustomLlm])),
  },
  { title: 'LlmPatch', additionalProperties: false },
);

export type AgentConfigPatch = PatchOf<Omit<AgentConfig, 'webhooks' | 'llm'>> & {
  webhooks?: Static<typeof WebhooksPatch>;
  llm?: Static<typeof LlmPatch>;
};

/** The body of a configuration patch: the document's own limits, nothing required, unknown fields refused. */
export const AgentConfigPatch = Type.Unsafe<AgentConfigPatch>({
  title: 'AgentConfigPatch',
  type: 'object',
  properties: {
    ...(withoutRequired(AgentConfig) as { properties: Record<string, TSchema> }).properties,
    webhooks: WebhooksPatch,
    llm: LlmPatch,
  },
  additionalProperties: false,
  examples: [
    {
      prompt: { first_message_mode: 'fixed', first_message: 'Good morning, how can I help you?' },
      conversation: { eagerness: 'relaxed', timezone: 'Europe/Lisbon' },
    },
  ],
});

/** The schema without `required` and `default`, at every depth, under a name of its own. */
function withoutRequired(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutRequired);
  if (typeof schema !== 'object' || schema === null) return schema;
  const isSchemaOfObject = (schema as { type?: unknown }).type === 'object';
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => key !== 'default' && !(isSchemaOfObject && key === 'required'))
      .map(([key, value]) => [key, isName(key, value) ? `${value}Patch` : withoutRequired(value)]),
  );
}

/** A property called `title` has a schema, the keyword has text. */
function isName(key: string, value: unknown): value is string {
  return key === 'title' && typeof value === 'string';
}
