import { h } from '../dom.ts';
import type { TalkAgent } from './talk-agent.ts';

/** Says which version answers, and lets the person choose when the draft differs from the published one. */
export function createVersionChoice({ versionNumber, isDraftDifferent }: TalkAgent) {
  if (versionNumber === null) {
    const note = 'Draft. A trial lasts ten minutes at most and is not kept among the conversations.';
    return {
      element: h('p', { class: 'muted version' }, note),
      wantsDraft: () => true,
      setEnabled: () => {},
    };
  }
  if (!isDraftDifferent) {
    const note = h('p', { class: 'muted version' }, `Version ${versionNumber}`);
    return { element: note, wantsDraft: () => false, setEnabled: () => {} };
  }
  const select = h(
    'select',
    { 'aria-label': 'Version to talk to' },
    h('option', { value: 'live' }, `Published version ${versionNumber}`),
    h('option', { value: 'draft' }, 'Draft with unpublished changes'),
  );
  return {
    element: h('div', { class: 'version' }, select),
    wantsDraft: () => select.value === 'draft',
    setEnabled: (isEnabled: boolean) => {
      select.disabled = !isEnabled;
    },
  };
}
