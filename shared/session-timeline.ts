import { type Static, Type } from 'typebox';

/** Longest `output` or `error` of a tool that is kept, in UTF-8 bytes; the rest is cut and flagged. */
export const TOOL_OUTPUT_MAX_BYTES = 256 * 1024;

const turnId = Type.Union([Type.Integer(), Type.Null()]);
const createdAt = Type.Union([Type.String(), Type.Null()]);
const nullableText = Type.Union([Type.String(), Type.Null()]);

/** Something said. An interrupted message of the agent holds only what was heard. */
export const MessageItem = Type.Object(
  {
    type: Type.Literal('message'),
    id: Type.Optional(Type.String()),
    role: Type.Enum(['user', 'assistant']),
    content: Type.String(),
    turn_id: turnId,
    created_at: createdAt,
    /** The caller spoke over it and the rest was never played. */
    interrupted: Type.Optional(Type.Boolean()),
    /** Where an interrupted message was cut is estimated, as the voice gave no word times. */
    heard_estimated: Type.Optional(Type.Boolean()),
  },
  { title: 'MessageItem' },
);
export type MessageItem = Static<typeof MessageItem>;

export const ToolCallItem = Type.Object(
  {
    type: Type.Literal('tool_call'),
    id: Type.Optional(Type.String()),
    call_id: Type.String(),
    tool_name: Type.String(),
    /** client, webhook, builtin, mcp, background, unknown; the set may grow. */
    tool_source: nullableText,
    /** JSON, never cut. */
    input: Type.String(),
    turn_id: turnId,
    created_at: createdAt,
  },
  { title: 'ToolCallItem' },
);
export type ToolCallItem = Static<typeof ToolCallItem>;

export const ToolResultItem = Type.Object(
  {
    type: Type.Literal('tool_result'),
    id: Type.Optional(Type.String()),
    call_id: Type.String(),
    tool_name: Type.String(),
    tool_source: nullableText,
    status: Type.Enum(['completed', 'failed']),
    output: nullableText,
    output_truncated: Type.Boolean(),
    error: nullableText,
    latency_ms: Type.Union([Type.Integer(), Type.Null()]),
    turn_id: turnId,
    created_at: createdAt,
  },
  { title: 'ToolResultItem' },
);
export type ToolResultItem = Static<typeof ToolResultItem>;

/** One entry of a session's `items`, and of the worker's timeline events. */
export const TimelineItem = Type.Union([MessageItem, ToolCallItem, ToolResultItem], {
  title: 'TimelineItem',
});
export type TimelineItem = Static<typeof TimelineItem>;

const RANK = { message: 0, tool_call: 1, tool_result: 2 } as const;

/** The order of `items`: by time, ties by kind (message, call, result), then as they came. Items without a time keep their place. */
export function sortTimeline(items: readonly TimelineItem[]): TimelineItem[] {
  let lastTime = '';
  const keyed = items.map((item, index) => {
    lastTime = item.created_at ?? lastTime;
    return { item, index, time: lastTime };
  });
  keyed.sort(
    (a, b) =>
      (a.time < b.time ? -1 : a.time > b.time ? 1 : 0) ||
      RANK[a.item.type] - RANK[b.item.type] ||
      a.index - b.index,
  );
  return keyed.map(({ item }) => item);
}
