import type { Agent, AgentList } from '../api-types.ts';
import { fill, h, uniqueId } from '../dom.ts';
import { options } from '../field.ts';
import { dayAndTime } from '../format.ts';
import { icon } from '../icons.ts';
import { loadInto } from '../loading.ts';
import type { Page, PageContext } from '../page.ts';
import { pagedList } from '../paged-list.ts';
import { agentLink } from '../route.ts';
import { firstRun } from './first-run.ts';

const TYPING_PAUSE_MS = 250;

/** All agents, searchable. */
export function agentListPage(context: PageContext): Page {
  const { api } = context;
  const search = h('input', { type: 'search', placeholder: 'Search agents', 'aria-label': 'Search agents' });
  const stateId = uniqueId('state');
  const state = h(
    'select',
    { id: stateId },
    ...options(
      [
        ['all', 'Live and drafts'],
        ['live', 'Live only'],
        ['draft', 'Drafts only'],
      ],
      'all',
    ),
  );
  const place = h('div', { class: 'list-place' });
  let latest = 0;

  async function refresh(): Promise<void> {
    latest += 1;
    const current = latest;
    const query = { search: search.value.trim(), publicationState: state.value };
    const fetchPage = (cursor: string | null) => api.listAgents({ ...query, cursor });
    const shown = h('div');
    fill(place, shown);
    await loadInto(
      shown,
      () => fetchPage(null),
      (first) => {
        const isFiltered = query.search !== '' || query.publicationState !== 'all';
        if (current !== latest) return [];
        tools.hidden = first.agents.length === 0 && !isFiltered;
        return renderList(context, first, isFiltered, fetchPage);
      },
    );
  }

  let timer = 0;
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void refresh(), TYPING_PAUSE_MS);
  });
  state.addEventListener('change', () => void refresh());
  const tools = h(
    'div',
    { class: 'list-tools', role: 'search' },
    search,
    h('label', { class: 'visually-hidden', for: stateId }, 'State'),
    state,
  );
  const element = h(
    'div',
    { class: 'page' },
    h(
      'div',
      { class: 'page-head' },
      h('h1', {}, 'Agents'),
      h('a', { class: 'button button-primary', href: '#/agents/new' }, icon('plus'), 'New agent'),
    ),
    tools,
    place,
  );
  void refresh();
  return { title: 'Agents', element, dispose: () => clearTimeout(timer) };
}

function renderList(
  context: PageContext,
  first: AgentList,
  isFiltered: boolean,
  fetchPage: (cursor: string | null) => Promise<AgentList>,
): Node {
  if (first.agents.length === 0)
    return isFiltered ? h('p', { class: 'empty' }, 'No agent matches.') : firstRun(context);
  return pagedList({
    first: { rows: first.agents, next: first.next_cursor },
    more: async (cursor) => {
      const next = await fetchPage(cursor);
      return { rows: next.agents, next: next.next_cursor };
    },
    row: agentRow,
    label: 'Agents',
  });
}

function agentRow(agent: Agent): HTMLLIElement {
  const isLive = agent.publication_state === 'live';
  return h(
    'li',
    { class: 'row', 'data-testid': 'agent-row' },
    h(
      'div',
      { class: 'row-main' },
      h(
        'div',
        { class: 'row-title' },
        h('a', { href: agentLink(agent.agent_id) }, agent.name),
        h('span', { class: isLive ? 'badge badge-good' : 'badge' }, isLive ? 'Live' : 'Draft'),
      ),
      agent.description !== '' && h('p', { class: 'row-text' }, agent.description),
      h('p', { class: 'row-meta' }, `Changed ${dayAndTime(agent.updated_at)}`),
    ),
    h(
      'a',
      { class: 'button', href: agentLink(agent.agent_id, '/talk'), 'aria-label': `Talk to ${agent.name}` },
      icon('mic'),
      h('span', {}, isLive ? 'Talk' : 'Try out'),
    ),
  );
}
