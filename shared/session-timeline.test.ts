import { expect, test } from 'vitest';
import { sortTimeline, type TimelineItem } from './session-timeline.ts';

const message = (content: string, created_at: string | null): TimelineItem => ({
  type: 'message',
  role: 'user',
  content,
  turn_id: 1,
  created_at,
});
const call = (call_id: string, created_at: string): TimelineItem => ({
  type: 'tool_call',
  call_id,
  tool_name: 't',
  tool_source: 'client',
  input: '{}',
  turn_id: 1,
  created_at,
});
const result = (call_id: string, created_at: string): TimelineItem => ({
  type: 'tool_result',
  call_id,
  tool_name: 't',
  tool_source: 'client',
  status: 'completed',
  output: null,
  output_truncated: false,
  error: null,
  latency_ms: 1,
  turn_id: 1,
  created_at,
});
const labels = (items: readonly TimelineItem[]) =>
  items.map((item) => (item.type === 'message' ? item.content : `${item.type}:${item.call_id}`));

const T1 = '2026-01-01T00:00:00.001Z';
const T2 = '2026-01-01T00:00:00.002Z';

test('items are in order of time, ties by kind: message, call, result', () => {
  const sorted = sortTimeline([result('a', T2), call('a', T2), message('late', T2), message('early', T1)]);
  expect(labels(sorted)).toEqual(['early', 'late', 'tool_call:a', 'tool_result:a']);
});

test('items of one kind and time stay as they came', () => {
  expect(labels(sortTimeline([message('b', T1), message('a', T1)]))).toEqual(['b', 'a']);
});

test('an item without a time keeps its place after its neighbour', () => {
  const sorted = sortTimeline([message('x', T2), message('after x', null), message('first', T1)]);
  expect(labels(sorted)).toEqual(['first', 'x', 'after x']);
});
