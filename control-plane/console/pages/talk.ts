import { h } from '../dom.ts';
import { loadInto } from '../loading.ts';
import type { Page, PageContext } from '../page.ts';
import type { TalkAgent } from './talk-agent.ts';
import { createTalk } from './talk-session.ts';

/** Talks with an agent, by voice or by typing. */
export function talkPage(context: PageContext, agentId: string, startsAtOnce: boolean): Page {
  const { api } = context;
  const element = h('div', { class: 'page page-talk' });
  let talk: ReturnType<typeof createTalk> | null = null;
  let isDisposed = false;

  const load = async (): Promise<TalkAgent> => {
    const [agent, config, version] = await Promise.all([
      api.getAgent(agentId),
      api.getConfig(agentId),
      api.liveVersion(agentId),
    ]);
    return {
      agentId,
      name: agent.name,
      versionNumber: version?.version_number ?? null,
      isDraftDifferent: version?.config_hash !== config.config_hash,
    };
  };
  void loadInto(element, load, (agent) => {
    if (isDisposed) return [];
    talk = createTalk(context, agent);
    if (startsAtOnce) {
      // Reading the page again must not call again.
      history.replaceState(null, '', location.hash.split('?')[0]);
      void talk.start(true);
    }
    return talk.element;
  });
  return {
    title: 'Talk',
    element,
    leaveQuestion: () => (talk?.isCalling() ? 'Leave this page and hang up?' : null),
    dispose: () => {
      isDisposed = true;
      talk?.dispose();
    },
  };
}
