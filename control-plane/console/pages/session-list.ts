import type { SessionList, SessionSummary } from '../api-types.ts';
import { h } from '../dom.ts';
import { clockTime, dayAndTime, endReason } from '../format.ts';
import { loadInto } from '../loading.ts';
import type { Page, PageContext } from '../page.ts';
import { pagedList } from '../paged-list.ts';
import { agentLink, sessionLink } from '../route.ts';
import { statusBadge } from '../status-badge.ts';

/** Past and live conversations, of one agent or of all. */
export function sessionListPage({ api }: PageContext, agentId: string | null): Page {
  const place = h('div', { class: 'list-place' });
  const scope = h('p', { class: 'muted' });
  const element = h('div', { class: 'page' }, h('h1', {}, 'Conversations'), agentId !== null && scope, place);
  if (agentId !== null) {
    scope.append('Of this agent only. ', h('a', { href: '#/sessions' }, 'Show all'));
    api.getAgent(agentId).then(
      (agent) =>
        scope.replaceChildren(
          'Of ',
          h('a', { href: agentLink(agentId) }, agent.name),
          ' only. ',
          h('a', { href: '#/sessions' }, 'Show all'),
        ),
      () => {},
    );
  }
  void loadInto(
    place,
    () => api.listSessions(agentId, null),
    (first) => {
      if (first.sessions.length === 0)
        return h(
          'p',
          { class: 'empty' },
          'No conversations yet. They appear here when somebody talks with an agent.',
        );
      return pagedList({
        first: toRows(first),
        more: async (cursor) => toRows(await api.listSessions(agentId, cursor)),
        row: sessionRow,
        label: 'Conversations',
      });
    },
  );
  return { title: 'Conversations', element };
}

function toRows(list: SessionList) {
  return { rows: list.sessions, next: list.next_cursor };
}

function sessionRow(session: SessionSummary): HTMLLIElement {
  const reason = endReason(session.end_reason);
  return h(
    'li',
    { class: 'row session-row', 'data-testid': 'session-row' },
    h(
      'div',
      { class: 'row-main' },
      h(
        'div',
        { class: 'row-title' },
        h('a', { href: sessionLink(session.session_id) }, session.agent_name),
        statusBadge(session.status),
      ),
      h('p', { class: 'row-meta' }, [dayAndTime(session.created_at), reason].filter(Boolean).join(' · ')),
    ),
    h(
      'span',
      { class: 'row-number' },
      session.duration_seconds === null ? '–' : clockTime(session.duration_seconds),
    ),
  );
}
