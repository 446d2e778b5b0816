import { type Static, type TProperties, Type } from 'typebox';

const TEMPLATE_MAX = 100_000;
export const TOOL_URL_MAX = 4000;
const CONTENT_TYPE_MAX = 128;

/** Test calls and calls in conversations take this much of a response and cut the rest. */
export const TOOL_RESPONSE_MAX_BYTES = 65_536;
/** Longest wait for an answer while the agent is silent, and in the background. */
export const TOOL_TIMEOUT_MAX_S = 120;
export const BACKGROUND_TOOL_TIMEOUT_MAX_S = 300;

/** Names of client tools. A leading underscore is kept for tools that are built in. */
export const CLIENT_TOOL_NAME_PATTERN = '^[a-zA-Z][a-zA-Z0-9_-]{0,63}$';

export const ToolArgument = closed({
  name: Type.String({ minLength: 1, maxLength: 64, description: 'Parameter name the model fills in.' }),
  description: Type.String({ maxLength: 500, default: '' }),
});

export const ToolHeaderKind = Type.Enum(['custom', 'authorization_bearer', 'authorization_basic'], {
  default: 'custom',
});

export const ToolHeader = closed({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  /** Sent exactly as it is: the authorization kinds bring their `Bearer ` or `Basic ` along. */
  value: Type.String({ maxLength: 4000 }),
  kind: ToolHeaderKind,
});
export type ToolHeader = Static<typeof ToolHeader>;

/** What callers write and read of a tool alike, with its defaults. */
export const toolFields = {
  name: Type.String({
    minLength: 1,
    maxLength: 120,
    description: 'Shown to people; the model sees a name made of it.',
  }),
  description: Type.String({ maxLength: 2000, default: '', description: 'Tells the model when to call it.' }),
  arguments: Type.Array(ToolArgument, { default: [] }),
  method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], { default: 'POST' }),
  url: Type.String({
    maxLength: TOOL_URL_MAX,
    default: '',
    description:
      'Public http or https address; `{{name}}` takes the value of an argument, URL-encoded. Not in the host.',
  }),
  content_type: Type.String({ maxLength: CONTENT_TYPE_MAX, default: 'application/json' }),
  body_template: Type.String({
    maxLength: TEMPLATE_MAX,
    default: '',
    description:
      '`{{name}}` takes the value of an argument. In JSON it becomes a JSON value, or part of the string it stands in. Empty: a JSON object of all arguments.',
  }),
  execution_mode: Type.Enum(['blocking', 'fire_and_forget', 'background'], { default: 'blocking' }),
  timeout_seconds: Type.Integer({
    minimum: 1,
    maximum: BACKGROUND_TOOL_TIMEOUT_MAX_S,
    default: 30,
    description: 'At most 120, in the background 300.',
  }),
  error_handling: Type.Enum(['passthrough', 'hide'], { default: 'passthrough' }),
  expects_response: Type.Boolean({
    default: true,
    description: 'Client tools: false lets the agent go on without an answer.',
  }),
};

export const ToolType = Type.Enum(['webhook', 'client'], { default: 'webhook' });

/**
 * A tool as it is attached, frozen and run. In the store the values of authorization headers are
 * `<revision>:<sealed>`; a worker gets them in the clear.
 */
export const ToolDefinition = Type.Object({
  tool_id: Type.String(),
  tool_type: ToolType,
  ...toolFields,
  headers: Type.Array(ToolHeader, { default: [] }),
});
export type ToolDefinition = Static<typeof ToolDefinition>;

/** True for headers whose value is never shown again. */
export function isCredential(header: { readonly kind: ToolHeader['kind'] }): boolean {
  return header.kind !== 'custom';
}

function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}
