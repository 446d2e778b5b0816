import { type Static, Type } from 'typebox';
import { Metadata, Overrides, Variables } from '../../shared/conversation-request.ts';
import { Language } from '../../shared/language.ts';
import { TimelineItem } from '../../shared/session-timeline.ts';
import { pageQueryFields, pageReplyFields } from '../http/pagination.ts';

const nullableText = (maxLength: number) => Type.Union([Type.Null(), Type.String({ maxLength })]);
const NullableText = Type.Union([Type.Null(), Type.String()]);
const Timestamp = Type.String({ format: 'date-time' });
const NullableTimestamp = Type.Union([Type.Null(), Timestamp]);

const conversationFields = {
  /** Language of the conversation; not an override. */
  language: Type.Optional(Language),
  timezone: Type.Optional(nullableText(64)),
  /** A hint: a zone that doesn't exist is ignored. */
  client_timezone: Type.Optional(nullableText(64)),
  world_context: Type.Optional(Type.Boolean({ description: 'Tells the model date, time and zone.' })),
  overrides: Type.Optional(
    Type.Union([Type.Null(), Overrides], {
      description: 'Replaces parts of the configuration, where the agent’s `overrides_allowed` names them.',
    }),
  ),
  dynamic_variables: Type.Optional(
    Type.Union([Type.Null(), Variables], {
      description: 'Values for the prompt’s placeholders; the first 50 entries are read.',
    }),
  ),
  end_user_id: Type.Optional(nullableText(256)),
  metadata: Type.Optional(
    Type.Union([Type.Null(), Metadata], { description: 'Whatever JSON holds; echoed as sent.' }),
  ),
  tool_events: Type.Optional(Type.Boolean({ description: 'Sends the client events about tools.' })),
  record_audio: Type.Optional(
    Type.Union([Type.Null(), Type.Boolean()], {
      description: 'Overrides the agent’s setting; null: as the agent says.',
    }),
  ),
};

export const PreviewBody = Type.Object(conversationFields, {
  title: 'PreviewBody',
  additionalProperties: false,
  examples: [{ language: 'en', dynamic_variables: { first_name: 'Ana' } }],
});
export type PreviewBody = Static<typeof PreviewBody>;

export const CreateSessionBody = Type.Object(
  { agent_id: Type.String({ minLength: 1 }), name: Type.Optional(nullableText(128)), ...conversationFields },
  {
    title: 'CreateSessionBody',
    additionalProperties: false,
    examples: [
      {
        agent_id: '4f1c2a9be07d4f3c8a5b6d7e8f901234',
        dynamic_variables: { first_name: 'Ana' },
        end_user_id: 'customer-4711',
        metadata: { order: 4711 },
      },
    ],
  },
);
export type CreateSessionBody = Static<typeof CreateSessionBody>;

export const SessionToken = Type.Object(
  {
    session_id: Type.String(),
    expires_at: Timestamp,
    max_duration_seconds: Type.Integer(),
    transport: Type.Literal('rtc'),
    rtc_url: Type.String({ description: 'Address of the media server.' }),
    token: Type.String({ description: 'Opens this session only.' }),
  },
  { title: 'SessionToken' },
);
export type SessionToken = Static<typeof SessionToken>;

export const SessionPath = Type.Object({ session_id: Type.String() });
export const AgentOfSessionPath = Type.Object({ agent_id: Type.String() });

export const SessionListQuery = Type.Object({
  agent_id: Type.Optional(Type.String()),
  status: Type.Optional(
    Type.String({ description: 'Comma-separated: pending, active, completed, failed, unknown.' }),
  ),
  direction: Type.Optional(Type.Enum(['inbound', 'outbound'])),
  caller_number: Type.Optional(Type.String({ description: 'Exact, in E.164.' })),
  created_after: Type.Optional(Type.String({ description: 'ISO 8601, inclusive.' })),
  created_before: Type.Optional(Type.String({ description: 'ISO 8601, exclusive.' })),
  ...pageQueryFields,
});
export type SessionListQuery = Static<typeof SessionListQuery>;

export const SessionSummary = Type.Object(
  {
    session_id: Type.String(),
    agent_id: Type.String(),
    agent_name: Type.String(),
    name: NullableText,
    status: Type.Enum(['pending', 'active', 'completed', 'failed', 'unknown']),
    end_reason: NullableText,
    source: Type.Enum(['api_key', 'dashboard', 'public', 'phone']),
    direction: Type.Enum(['inbound', 'outbound']),
    dial_status: NullableText,
    answered_by: NullableText,
    caller_number: NullableText,
    dialed_number: NullableText,
    timezone: NullableText,
    created_at: Timestamp,
    started_at: NullableTimestamp,
    ended_at: NullableTimestamp,
    duration_seconds: Type.Union([Type.Null(), Type.Integer()]),
    metadata: Metadata,
  },
  { title: 'SessionSummary' },
);
export type SessionSummary = Static<typeof SessionSummary>;

export const SessionList = Type.Object(
  { sessions: Type.Array(SessionSummary), ...pageReplyFields },
  { title: 'SessionList' },
);
export type SessionList = Static<typeof SessionList>;

const AnalysisDetail = Type.Object(
  {
    status: Type.Enum(['queued', 'running', 'completed', 'skipped', 'error']),
    summary: NullableText,
    data: Type.Array(
      Type.Object({
        name: Type.String(),
        type: Type.String(),
        value: Type.Union([Type.Null(), Type.Boolean(), Type.Number(), Type.String()]),
        rationale: Type.String(),
      }),
    ),
    criteria_results: Type.Array(
      Type.Object({
        name: Type.String(),
        result: Type.Enum(['success', 'failure', 'unknown']),
        rationale: Type.String(),
      }),
    ),
    /** The cause when the status is `error`. */
    error: NullableText,
    finished_at: NullableTimestamp,
  },
  { title: 'SessionAnalysis' },
);
export type AnalysisDetail = Static<typeof AnalysisDetail>;

export const SessionDetail = Type.Object(
  {
    ...SessionSummary.properties,
    unattributed_llm_usage: Type.Array(Metadata),
    items: Type.Array(TimelineItem),
    analysis: Type.Union([Type.Null(), AnalysisDetail]),
  },
  { title: 'SessionDetail' },
);
export type SessionDetail = Static<typeof SessionDetail>;

/** No session has a recording yet, so that this reply is never sent. */
export const Recording = Type.Object(
  {
    session_id: Type.String(),
    status: Type.Enum(['processing', 'complete', 'failed']),
    tracks: Type.Array(Metadata),
    error: NullableText,
    error_code: NullableText,
    error_message: NullableText,
  },
  { title: 'Recording' },
);

export const Widget = Type.Object({ agent_name: Type.String() }, { title: 'Widget' });
