import { h } from './dom.ts';
import type { Page, PageContext } from './page.ts';
import { agentEditorPage } from './pages/agent-editor.ts';
import { agentListPage } from './pages/agent-list.ts';
import { newAgentPage } from './pages/new-agent.ts';
import { sessionDetailPage } from './pages/session-detail.ts';
import { sessionListPage } from './pages/session-list.ts';
import { talkPage } from './pages/talk.ts';
import type { Route } from './route.ts';

/** The page of an address, and the entry of the navigation it belongs to. */
export function openPage({ path, query }: Route, context: PageContext): { page: Page; section: string } {
  const [section = 'agents', id, sub] = path;
  if (section === 'sessions') {
    const page =
      id === undefined ? sessionListPage(context, query.get('agent')) : sessionDetailPage(context, id);
    return { page, section };
  }
  if (section !== 'agents') return { page: missingPage(), section: '' };
  if (id === undefined) return { page: agentListPage(context), section };
  if (id === 'new') return { page: newAgentPage(context), section };
  if (sub === 'talk') return { page: talkPage(context, id, query.has('start')), section };
  return { page: sub === undefined ? agentEditorPage(context, id) : missingPage(), section };
}

function missingPage(): Page {
  const element = h(
    'div',
    { class: 'page' },
    h('h1', {}, 'There is nothing here'),
    h('p', {}, h('a', { href: '#/agents' }, 'Go to your agents')),
  );
  return { title: 'Not found', element };
}
