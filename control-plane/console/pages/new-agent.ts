import { ApiError } from '../api-request.ts';
import { h, uniqueId } from '../dom.ts';
import { field } from '../field.ts';
import { fieldMessages } from '../field-messages.ts';
import { messageOf } from '../loading.ts';
import { go, type Page, type PageContext } from '../page.ts';
import { agentLink } from '../route.ts';
import { type AgentTemplate, agentFromTemplate, TEMPLATES } from '../templates.ts';

/** Makes an agent from a template. */
export function newAgentPage({ api, choices, notify }: PageContext): Page {
  let chosen = TEMPLATES[0];
  const name = h('input', { type: 'text', maxlength: 120, autocomplete: 'off', value: chosen?.name ?? '' });
  const nameField = field('Name', name);
  const problem = h('p', { class: 'field-error', role: 'alert' });
  const create = h('button', { type: 'submit', class: 'button button-primary' }, 'Create agent');

  const cards = TEMPLATES.map((template) =>
    templateCard(template, template === chosen, () => {
      // A name that the person wrote stays.
      if (name.value.trim() === '' || name.value === chosen?.name) name.value = template.name;
      chosen = template;
    }),
  );

  const attempt = async () => {
    if (!chosen) return;
    create.disabled = true;
    problem.textContent = '';
    nameField.setError(null);
    try {
      const agent = await api.createAgent(agentFromTemplate(chosen, name.value.trim(), choices));
      notify('Created as a draft. Publish it so that it takes calls.');
      go(agentLink(agent.agent_id));
    } catch (error) {
      const messages = fieldMessages(error instanceof ApiError ? error.issues : []);
      const nameMessage = messages.byField.get('name') ?? null;
      nameField.setError(nameMessage);
      if (nameMessage === null) problem.textContent = [messageOf(error), ...messages.others].join(' ');
      create.disabled = false;
    }
  };

  const form = h(
    'form',
    {
      novalidate: true,
      onsubmit: (event) => {
        event.preventDefault();
        void attempt();
      },
    },
    h('fieldset', { class: 'templates' }, h('legend', {}, 'Start from'), ...cards),
    nameField.element,
    problem,
    h(
      'div',
      { class: 'actions' },
      create,
      h('a', { class: 'button button-quiet', href: '#/agents' }, 'Cancel'),
    ),
  );
  const element = h('div', { class: 'page page-narrow' }, h('h1', {}, 'New agent'), form);
  return { title: 'New agent', element };
}

function templateCard(template: AgentTemplate, isChosen: boolean, onChoose: () => void): HTMLElement {
  const id = uniqueId('template');
  return h(
    'label',
    { class: 'template', for: id, 'data-testid': `template-${template.id}` },
    h('input', { type: 'radio', name: 'template', id, checked: isChosen, onchange: onChoose }),
    h(
      'span',
      { class: 'template-text' },
      h('span', { class: 'template-name' }, template.name),
      h('span', { class: 'muted' }, template.summary),
    ),
  );
}
