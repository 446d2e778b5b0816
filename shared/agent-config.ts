import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { DEFAULT_VOICE_ID } from './builtin-voices.ts';
import { Language, SummaryLanguage } from './language.ts';

/** Longest text a model is ever greeted with. */
const GREETING_MAX = 10_000;
/** Unicode code points. */
export const SYSTEM_PROMPT_MAX = 4000;

/** Lower-case names of what an analysis extracts or judges. */
const AnalysisName = Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' });
const Sensitivity = Type.Enum(['low', 'balanced', 'high']);

const Prompt = section('PromptConfig', {
  system_prompt: Type.String({
    maxLength: SYSTEM_PROMPT_MAX,
    default: '',
    description:
      'Who the agent is and what it does. `{{name}}` takes a dynamic variable, `{{system.today}}` and the like what the session knows.',
  }),
  first_message_mode: Type.Enum(['off', 'fixed', 'prompt'], {
    default: 'prompt',
    description:
      '`off`: the caller begins; `fixed`: `first_message` is spoken; `prompt`: the model greets by `first_message_prompt`.',
  }),
  first_message: Type.String({
    maxLength: GREETING_MAX,
    default: 'Hello, you have reached our voice assistant. What can I do for you?',
    description: 'The greeting of mode `fixed`; placeholders are filled.',
  }),
  first_message_prompt: Type.String({
    maxLength: GREETING_MAX,
    default: 'Say hello in one short sentence and invite the caller to say what they need.',
    description: 'Tells the model how to greet, in mode `prompt`.',
  }),
});

const Voice = section('VoiceConfig', {
  voice_id: Type.String({
    minLength: 1,
    maxLength: 256,
    default: DEFAULT_VOICE_ID,
    description: 'The voice the agent speaks with.',
  }),
  speaking_language: withDefault(Language, 'en'),
  expressive: Type.Boolean({ default: false, description: 'Lets the voice show feelings where it can.' }),
  speed: Type.Number({ minimum: 0.5, maximum: 2, default: 1, description: '1 is the voice’s own pace.' }),
});

const Asr = section('AsrConfig', {
  model: Type.String({
    minLength: 1,
    maxLength: 256,
    default: 'default',
    description: '`default` is the recogniser of the settings.',
  }),
  multilingual: Type.Boolean({ default: false, description: 'Callers may change the language.' }),
  strict_language: Type.Boolean({ default: false, description: 'Only the agent’s language is recognised.' }),
  keyterms: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    maxItems: 50,
    default: [],
    description: 'Words the recogniser should expect.',
  }),
});

const TransferDestination = closed({
  type: Type.Enum(['phone', 'sip'], { default: 'phone' }),
  label: Type.String({ minLength: 1, maxLength: 64 }),
  phone_number: Type.String({ maxLength: 32, default: '' }),
  sip_uri: Type.String({ maxLength: 512, default: '' }),
  description: Type.String({ maxLength: 500, default: '' }),
  mode: Type.Enum(['cold', 'warm'], { default: 'cold' }),
  warm_connect: Type.Enum(['confirm', 'direct', 'briefing'], { default: 'confirm' }),
  warm_briefing_instructions: Type.String({ maxLength: 2000, default: '' }),
  on_failure: section('TransferFailure', {
    action: Type.Enum(['return_to_agent', 'end_call'], { default: 'return_to_agent' }),
    message: Type.String({ maxLength: GREETING_MAX, default: '' }),
  }),
});

const Outbound = closed({
  amd_enabled: Type.Boolean(),
  voicemail: Type.Union([
    Type.Null(),
    closed({
      action: Type.Enum(['hangup', 'leave_message', 'leave_prompt_message']),
      message: Type.String({ maxLength: GREETING_MAX }),
    }),
  ]),
});

const Conversation = section('ConversationConfig', {
  max_duration_seconds: Type.Integer({
    minimum: 60,
    maximum: 3600,
    default: 1800,
    description: 'The session ends after this long.',
  }),
  eagerness: Type.Enum(['relaxed', 'balanced', 'eager'], {
    default: 'balanced',
    description: 'How soon the agent takes the turn.',
  }),
  response_wait_ms: Type.Integer({
    minimum: 300,
    maximum: 2000,
    default: 550,
    description: 'Silence after which a caller’s turn may end.',
  }),
  response_max_wait_ms: Type.Union([Type.Null(), Type.Integer({ minimum: 0, maximum: 4000 })], {
    default: null,
    description: 'Silence after which it ends in any case; null: chosen by the service.',
  }),
  speculative_response: Type.Boolean({
    default: true,
    description: 'Starts the reply before the turn’s end is certain.',
  }),
  interruptible: Type.Boolean({ default: true, description: 'The caller may speak over the agent.' }),
  interruption_sensitivity: withDefault(Sensitivity, 'balanced'),
  interruption_ignore_phrases: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    maxItems: 50,
    default: [],
    description: 'Phrases that never interrupt, such as “uh-huh”.',
  }),
  reengage_enabled: Type.Boolean({
    default: false,
    description: 'The agent speaks up when the caller stays silent.',
  }),
  hangup_after_seconds: Type.Integer({
    minimum: 10,
    maximum: 3600,
    default: 60,
    description: 'Silence of the caller after which the agent hangs up.',
  }),
  hangup_farewell_enabled: Type.Boolean({
    default: false,
    description: 'Says goodbye before it hangs up after silence.',
  }),
  record_audio: Type.Boolean({ default: true, description: 'Keeps a recording of each speaker.' }),
  timezone: Type.String({
    maxLength: 64,
    default: '',
    description: 'IANA zone; empty: found out per session.',
  }),
  transfer_destinations: Type.Array(TransferDestination, {
    maxItems: 10,
    default: [],
    description: 'Whom a call can be handed to.',
  }),
  outbound: Type.Union([Type.Null(), Outbound], {
    default: null,
    description: 'For calls that the agent places.',
  }),
});

const Tools = section('ToolsConfig', {
  enabled: Type.Boolean({ default: true, description: 'Whether the agent uses its tools.' }),
  tool_ids: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    maxItems: 100,
    default: [],
    description: 'The attached tools.',
  }),
  system_tools: section('SystemTools', {
    hang_up_call: Type.Boolean({ default: false, description: 'The agent may end the call.' }),
  }),
});

const KnowledgeBase = section('KnowledgeBaseConfig', {
  enabled: Type.Boolean({ default: false, description: 'Whether the agent looks things up.' }),
  knowledge_source_ids: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    maxItems: 100,
    default: [],
    description: 'The attached knowledge sources.',
  }),
});

const Analysis = section('AnalysisConfig', {
  summary: section('SummaryConfig', {
    enabled: Type.Boolean({ default: true, description: 'Whether a summary is written after the call.' }),
    prompt: Type.Union([Type.Null(), Type.String({ maxLength: 1000 })], {
      default: null,
      description: 'What the summary should tell.',
    }),
    language: withDefault(SummaryLanguage, 'en'),
  }),
  data_fields: Type.Array(
    closed({
      name: AnalysisName,
      type: Type.Enum(['boolean', 'text', 'number', 'enum'], { default: 'text' }),
      description: Type.String({ maxLength: 500, default: '' }),
      enum_options: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 20, default: [] }),
    }),
    { maxItems: 20, default: [], description: 'What to extract from the conversation.' },
  ),
  criteria: Type.Array(
    closed({ name: AnalysisName, description: Type.String({ maxLength: 500, default: '' }) }),
    { maxItems: 10, default: [], description: 'What to judge the conversation by.' },
  ),
});

const Guardrails = section('GuardrailsConfig', {
  focus: Type.Boolean({ default: false, description: 'Keeps the agent to its subject.' }),
  manipulation: Type.Boolean({ default: false, description: 'Resists attempts to change its instructions.' }),
});

export const WEBHOOK_URL_MAX = 4000;
export const WEBHOOK_SECRET_MAX = 256;
export const WEBHOOK_COUNT_MAX = 5;
export const LLM_KEY_MAX = 4096;

const WebhookUrl = Type.String({ minLength: 1, maxLength: WEBHOOK_URL_MAX });
const TimeoutSeconds = Type.Integer({ minimum: 1, maximum: 8 });

/** Stored and run form: the signing keys are in it (sealed in the store, null where there is none). */
const Webhooks = section('StoredWebhooks', {
  post_call: Type.Array(closed({ url: WebhookUrl, secret: nullable(Type.String()) }), {
    maxItems: WEBHOOK_COUNT_MAX,
    default: [],
  }),
  conversation_init: Type.Union(
    [
      Type.Null(),
      closed({ url: WebhookUrl, secret: nullable(Type.String()), timeout_seconds: TimeoutSeconds }),
    ],
    { default: null },
  ),
});

/** The form every caller reads: no keys. */
const WebhooksRead = section('WebhooksConfig', {
  post_call: Type.Array(closed({ url: WebhookUrl, has_secret: Type.Boolean() }), {
    default: [],
    description: 'Where events of calls are delivered.',
  }),
  conversation_init: nullable(
    closed({ url: WebhookUrl, has_secret: Type.Boolean(), timeout_seconds: TimeoutSeconds }),
  ),
});

const Llm = section('LlmConfig', {
  tier: Type.Enum(['instant', 'medium', 'high'], {
    default: 'medium',
    description: 'Speed against quality.',
  }),
  model: Type.String({
    minLength: 1,
    maxLength: 256,
    default: 'default',
    description: '`default` is the model of the settings.',
  }),
  custom: Type.Union(
    [
      Type.Null(),
      closed({
        base_url: Type.String({ minLength: 1, maxLength: 2000 }),
        model: Type.String({ minLength: 1, maxLength: 256 }),
        /** Reads show null. */
        api_key: nullable(Type.String()),
      }),
    ],
    { default: null, description: 'An OpenAI-compatible endpoint of your own; goes first.' },
  ),
});

const sections = {
  prompt: Prompt,
  voice: Voice,
  asr: Asr,
  conversation: Conversation,
  tools: Tools,
  webhooks: Webhooks,
  knowledge_base: KnowledgeBase,
  analysis: Analysis,
  guardrails: Guardrails,
  llm: Llm,
};

/** An agent's configuration as it is stored and run. The schema holds every default and limit. */
export const AgentConfig = Type.Object(sections);
export type AgentConfig = Static<typeof AgentConfig>;

/** The configuration as callers read it: the same without secrets. */
export const AgentConfigRead = Type.Object({ ...sections, webhooks: WebhooksRead });
export type AgentConfigRead = Static<typeof AgentConfigRead>;

function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

/** An object whose every field has a default, so that the whole may be left out. */
function section<P extends TProperties>(title: string, properties: P) {
  return Type.Object(properties, { title, additionalProperties: false, default: {} });
}

function nullable<S extends TSchema>(schema: S) {
  return Type.Union([Type.Null(), schema]);
}

function withDefault<S extends TSchema>(schema: S, value: Static<S>): S {
  return { ...schema, default: value };
}
