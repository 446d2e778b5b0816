import type { SessionDetail, TimelineItem, ToolCallItem, ToolResultItem } from '../api-types.ts';
import { bubble } from '../bubble.ts';
import { h } from '../dom.ts';
import { clockTime } from '../format.ts';

/** All that was said and done in a session, in order. */
export function timelineList(session: SessionDetail): HTMLElement {
  if (session.items.length === 0) return h('p', { class: 'empty' }, 'Nothing was said.');
  const originMs = Date.parse(session.started_at ?? session.created_at);
  const row = (item: TimelineItem): HTMLLIElement => {
    const offsetS = item.created_at === null ? null : (Date.parse(item.created_at) - originMs) / 1000;
    const time = offsetS === null ? null : clockTime(offsetS);
    if (item.type === 'tool_call') return toolCallRow(item, time);
    if (item.type === 'tool_result') return toolResultRow(item, time);
    const isCaller = item.role === 'user';
    return bubble({
      side: isCaller ? 'user' : 'agent',
      speaker: isCaller ? 'Caller' : session.agent_name,
      text: item.content,
      time,
      isInterrupted: item.interrupted === true,
    }).element;
  };
  return h(
    'ol',
    { class: 'transcript', 'aria-label': 'Transcript', 'data-testid': 'transcript' },
    ...session.items.map(row),
  );
}

function toolCallRow(item: ToolCallItem, time: string | null): HTMLLIElement {
  return toolRow(`Used ${item.tool_name}`, item.input, time);
}

function toolResultRow(item: ToolResultItem, time: string | null): HTMLLIElement {
  const isFailed = item.status === 'failed';
  return toolRow(
    `${item.tool_name} ${isFailed ? 'failed' : 'answered'}`,
    (isFailed ? item.error : item.output) ?? '',
    time,
  );
}

function toolRow(summary: string, content: string, time: string | null): HTMLLIElement {
  const label = time === null ? summary : `${summary} · ${time}`;
  if (content === '') return h('li', { class: 'aside' }, label);
  return h('li', { class: 'aside' }, h('details', {}, h('summary', {}, label), h('pre', {}, content)));
}
