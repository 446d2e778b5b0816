import { h } from '../dom.ts';
import { icon } from '../icons.ts';
import { messageOf } from '../loading.ts';
import { go, type PageContext } from '../page.ts';
import { agentLink } from '../route.ts';
import { agentFromTemplate, TEMPLATES } from '../templates.ts';

/** What an empty workspace shows: one click to a first conversation. */
export function firstRun({ api, choices }: PageContext): HTMLElement {
  const [sample] = TEMPLATES;
  const problem = h('p', { class: 'field-error', role: 'alert' });
  const start = h(
    'button',
    { type: 'button', class: 'button button-primary button-large', 'data-testid': 'talk-to-sample' },
    icon('mic'),
    'Talk to a sample agent',
  );
  start.addEventListener('click', async () => {
    if (!sample) return;
    start.disabled = true;
    problem.textContent = '';
    try {
      const agent = await api.createAgent(agentFromTemplate(sample, sample.name, choices));
      await api.publish(agent.agent_id);
      go(`${agentLink(agent.agent_id, '/talk')}?start`);
    } catch (error) {
      problem.textContent = messageOf(error);
      start.disabled = false;
    }
  });
  return h(
    'section',
    { class: 'first-run' },
    h('h2', {}, 'Hear it first'),
    h(
      'p',
      { class: 'muted' },
      'One click makes a receptionist for an invented dental practice, publishes it and calls it. ',
      'Ask about opening hours, prices or parking, and interrupt whenever you like.',
    ),
    start,
    problem,
    h('p', { class: 'muted' }, 'Or ', h('a', { href: '#/agents/new' }, 'make your own agent'), '.'),
  );
}
