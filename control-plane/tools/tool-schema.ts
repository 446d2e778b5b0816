import { type Static, type TProperties, type TSchemaOptions, Type } from 'typebox';
import {
  TOOL_URL_MAX,
  ToolArgument,
  ToolHeader,
  ToolHeaderKind,
  ToolType,
  toolFields,
} from '../../shared/tool-definition.ts';
import { pageQueryFields, pageReplyFields } from '../http/pagination.ts';

const LIST_MAX = 100;
const Timestamp = Type.String({ format: 'date-time' });

/** Kept for people who try a tool out; real calls never use it. */
export const MockResponse = closed({
  name: Type.String({ minLength: 1, maxLength: 120 }),
  status_code: Type.Integer({ minimum: 100, maximum: 599, default: 200 }),
  content_type: Type.String({ maxLength: 128, default: 'application/json' }),
  body: Type.String({ maxLength: 100_000, default: '' }),
});
export type MockResponse = Static<typeof MockResponse>;

const written = {
  ...toolFields,
  headers: Type.Array(ToolHeader, { default: [] }),
  mock_responses: Type.Array(MockResponse, { default: [] }),
};

/** A whole tool without its id. Every field has a default but the name. */
export const ToolContent = closed({ tool_type: ToolType, ...written });
export type ToolContent = Static<typeof ToolContent>;

/** What a caller may send: defaults may be left out, in list entries as well. */
const { name, ...otherFields } = toolFields;
const argumentFields = ToolArgument.properties;
const mockFields = MockResponse.properties;
const given = Type.Partial(
  Type.Object({
    ...otherFields,
    arguments: Type.Array(
      closed({ name: argumentFields.name, description: Type.Optional(argumentFields.description) }),
      { maxItems: LIST_MAX },
    ),
    headers: Type.Array(
      closed({
        name: ToolHeader.properties.name,
        value: ToolHeader.properties.value,
        kind: Type.Optional(ToolHeaderKind),
      }),
      {
        maxItems: LIST_MAX,
        description: 'Replaced whole: values of authorization headers must be sent again.',
      },
    ),
    mock_responses: Type.Array(
      closed({
        name: mockFields.name,
        status_code: Type.Optional(mockFields.status_code),
        content_type: Type.Optional(mockFields.content_type),
        body: Type.Optional(mockFields.body),
      }),
      { maxItems: LIST_MAX },
    ),
  }),
).properties;

export const CreateToolBody = closed(
  { name, tool_type: Type.Optional(ToolType), ...given },
  {
    title: 'CreateToolBody',
    examples: [
      {
        name: 'Look up order',
        description: 'Finds an order by its number. Use it when the caller asks where an order is.',
        arguments: [{ name: 'order_id', description: 'Number of the order, digits only.' }],
        method: 'GET',
        url: 'https://shop.example.com/orders/{{order_id}}',
      },
    ],
  },
);
export type CreateToolBody = Static<typeof CreateToolBody>;

export const UpdateToolBody = closed(
  {
    ...given,
    name: Type.Optional(name),
    url: Type.Optional(Type.String({ minLength: 1, maxLength: TOOL_URL_MAX })),
  },
  { title: 'UpdateToolBody', examples: [{ timeout_seconds: 10, error_handling: 'hide' }] },
);
export type UpdateToolBody = Static<typeof UpdateToolBody>;

export const ToolSummary = Type.Object(
  {
    tool_id: Type.String(),
    workspace_id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    tool_type: ToolType,
    method: toolFields.method,
    url: Type.String(),
    used_by: Type.Integer({ description: 'Agents whose draft has the tool.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'ToolSummary' },
);
export type ToolSummary = Static<typeof ToolSummary>;

export const Tool = Type.Object(
  {
    ...ToolSummary.properties,
    ...written,
    headers: Type.Array(
      Type.Object({
        name: Type.String(),
        kind: ToolHeaderKind,
        value: Type.Union([Type.Null(), Type.String()], {
          description: 'Null for the authorization kinds: they are write-only.',
        }),
        has_secret: Type.Boolean(),
      }),
    ),
  },
  { title: 'Tool' },
);
export type Tool = Static<typeof Tool>;

export const ToolPath = Type.Object({ tool_id: Type.String() });

export const ToolListQuery = Type.Object({
  search: Type.Optional(Type.String({ description: 'Part of the name, in any case.' })),
  agent_id: Type.Optional(Type.String({ description: 'Only tools that this agent’s draft has.' })),
  ...pageQueryFields,
});
export type ToolListQuery = Static<typeof ToolListQuery>;

export const ToolList = Type.Object(
  { tools: Type.Array(ToolSummary), ...pageReplyFields },
  { title: 'ToolList' },
);

export const ToolAgents = Type.Object(
  {
    agents: Type.Array(Type.Object({ agent_id: Type.String(), name: Type.String() })),
    total: Type.Integer(),
  },
  { title: 'ToolAgents' },
);

export const TestToolBody = closed(
  {
    arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { title: 'TestToolBody', examples: [{ arguments: { order_id: '4711' } }] },
);
export type TestToolBody = Static<typeof TestToolBody>;

export const ToolTestResult = Type.Object(
  {
    status_code: Type.Union([Type.Null(), Type.Integer()]),
    latency_ms: Type.Integer(),
    content_type: Type.Union([Type.Null(), Type.String()]),
    body: Type.Union([Type.Null(), Type.String()]),
    response_truncated: Type.Boolean({ description: 'The body was longer than 64 KB and cut there.' }),
    error: Type.Union([Type.Null(), Type.String()], { description: 'Why there is no response.' }),
  },
  { title: 'ToolTestResult' },
);
export type ToolTestResult = Static<typeof ToolTestResult>;

function closed<P extends TProperties>(properties: P, notes: TSchemaOptions = {}) {
  return Type.Object(properties, { additionalProperties: false, ...notes });
}
