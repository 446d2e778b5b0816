import type { SessionDetail } from '../api-types.ts';
import { fill, h } from '../dom.ts';
import { clockTime, dayAndTime, endReason } from '../format.ts';
import { loadInto, messageOf } from '../loading.ts';
import type { Page, PageContext } from '../page.ts';
import { agentLink } from '../route.ts';
import { statusBadge } from '../status-badge.ts';
import { timelineList } from './timeline-list.ts';

/** A conversation that isn't over is read again this often. */
const REFRESH_MS = 2000;

/** One conversation with all that was said. */
export function sessionDetailPage({ api, notify }: PageContext, sessionId: string): Page {
  const element = h('div', { class: 'page page-narrow' });
  let timer = 0;
  let isDisposed = false;

  function end(): void {
    api.endSession(sessionId).then(
      () => notify('The conversation was ended.'),
      (error: unknown) => notify(messageOf(error)),
    );
  }

  function render(session: SessionDetail): Node[] {
    const isOver = session.status === 'completed' || session.status === 'failed';
    if (!isOver && !isDisposed) timer = setTimeout(() => void refresh(), REFRESH_MS);
    return [head(session, isOver ? null : end), timelineList(session)];
  }

  async function refresh(): Promise<void> {
    try {
      const session = await api.getSession(sessionId);
      const focused = document.activeElement;
      const wasOnEnd = focused instanceof HTMLElement && focused.dataset['testid'] === 'end-session';
      fill(element, ...render(session));
      if (wasOnEnd) element.querySelector<HTMLElement>('[data-testid="end-session"]')?.focus();
    } catch {
      // What is shown stays true; the next try may work.
      if (!isDisposed) timer = setTimeout(() => void refresh(), REFRESH_MS);
    }
  }

  void loadInto(element, () => api.getSession(sessionId), render);
  return {
    title: 'Conversation',
    element,
    dispose: () => {
      isDisposed = true;
      clearTimeout(timer);
    },
  };
}

function head(session: SessionDetail, end: (() => void) | null): HTMLElement {
  const reason = endReason(session.end_reason);
  const facts: [string, Node | string][] = [
    ['Status', statusBadge(session.status)],
    ['Began', dayAndTime(session.started_at ?? session.created_at)],
    ['Duration', session.duration_seconds === null ? '–' : clockTime(session.duration_seconds)],
    ...(reason === null
      ? []
      : [['End', h('span', { 'data-testid': 'end-reason' }, reason)] as [string, Node]]),
  ];
  return h(
    'div',
    {},
    h(
      'div',
      { class: 'page-head' },
      h('h1', {}, 'Conversation with ', h('a', { href: agentLink(session.agent_id) }, session.agent_name)),
      end &&
        h(
          'button',
          { type: 'button', class: 'button button-danger', onclick: end, 'data-testid': 'end-session' },
          'End conversation',
        ),
    ),
    h(
      'dl',
      { class: 'facts' },
      ...facts.map(([term, value]) => h('div', {}, h('dt', {}, term), h('dd', {}, value))),
    ),
  );
}
