import { patchesBetween, toDraft } from '../agent-draft.ts';
import { ApiError } from '../api-request.ts';
import type { Agent, AgentConfig, VersionSummary } from '../api-types.ts';
import { h } from '../dom.ts';
import { fieldMessages } from '../field-messages.ts';
import { loadInto, messageOf } from '../loading.ts';
import type { Page, PageContext } from '../page.ts';
import { agentLink } from '../route.ts';
import { createAgentForm } from './agent-form.ts';
import { createSaveBar } from './save-bar.ts';

interface Loaded {
  readonly agent: Agent;
  readonly config: AgentConfig;
  readonly version: VersionSummary | null;
}

/** Edits an agent's draft and publishes it. */
export function agentEditorPage(context: PageContext, agentId: string): Page {
  const { api } = context;
  const element = h('div', { class: 'page page-narrow' });
  let hasChanges = () => false;

  void loadInto(
    element,
    async () => {
      const [agent, config, version] = await Promise.all([
        api.getAgent(agentId),
        api.getConfig(agentId),
        api.liveVersion(agentId),
      ]);
      return { agent, config, version };
    },
    (loaded) => {
      const editor = createEditor(context, loaded);
      hasChanges = editor.hasChanges;
      return editor.nodes;
    },
  );
  return {
    title: 'Agent',
    element,
    leaveQuestion: () => (hasChanges() ? 'Leave without saving your changes?' : null),
  };
}

function createEditor({ api, choices, notify }: PageContext, loaded: Loaded) {
  let { agent, config, version } = loaded;
  const agentId = agent.agent_id;
  const title = h('h1', {}, agent.name);
  const problem = h('div', { class: 'notice notice-error', role: 'alert' });
  const form = createAgentForm(choices, () => refresh());
  const bar = createSaveBar({
    save: () => void act(save, 'Draft saved.'),
    discard: () => {
      form.write(toDraft(agent, config));
      form.showErrors(new Map());
      refresh();
    },
    publish: () => void act(publish, 'Published. New conversations use this version.'),
  });

  const patches = () => patchesBetween(toDraft(agent, config), form.read());
  const hasChanges = () => {
    const { agent: ofAgent, config: ofConfig } = patches();
    return ofAgent !== null || ofConfig !== null;
  };

  function refresh(): void {
    title.textContent = agent.name;
    bar.show({
      hasChanges: hasChanges(),
      versionNumber: version?.version_number ?? null,
      isPublished: version?.config_hash === config.config_hash,
    });
  }

  async function save(): Promise<void> {
    const { agent: ofAgent, config: ofConfig } = patches();
    // The name is kept although the configuration may be refused afterwards: the form still shows what is left.
    if (ofAgent) agent = await api.patchAgent(agentId, ofAgent);
    if (ofConfig) config = await api.patchConfig(agentId, ofConfig);
    form.write(toDraft(agent, config));
  }

  async function publish(): Promise<void> {
    await save();
    version = await api.publish(agentId);
  }

  async function act(work: () => Promise<void>, done: string): Promise<void> {
    bar.setBusy(true);
    problem.hidden = true;
    form.showErrors(new Map());
    try {
      await work();
      notify(done);
    } catch (error) {
      const { byField, others } = fieldMessages(error instanceof ApiError ? error.issues : []);
      problem.textContent = [messageOf(error), ...others].join(' ');
      problem.hidden = false;
      form.showErrors(byField);
    } finally {
      bar.setBusy(false);
      refresh();
    }
  }

  problem.hidden = true;
  form.write(toDraft(agent, config));
  refresh();
  const head = h(
    'div',
    { class: 'page-head' },
    title,
    h(
      'div',
      { class: 'page-links' },
      h('a', { href: `#/sessions?agent=${encodeURIComponent(agentId)}` }, 'Conversations'),
      h('a', { class: 'button', href: agentLink(agentId, '/talk') }, 'Talk'),
    ),
  );
  return { nodes: [head, problem, form.element, bar.element], hasChanges };
}
