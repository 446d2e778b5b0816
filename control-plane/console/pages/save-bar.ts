import { h } from '../dom.ts';

export interface SaveState {
  readonly hasChanges: boolean;
  /** Of the newest published version; null when there is none. */
  readonly versionNumber: number | null;
  /** The saved draft equals the newest published version. */
  readonly isPublished: boolean;
}

export interface SaveBarActions {
  readonly save: () => void;
  readonly discard: () => void;
  readonly publish: () => void;
}

/** Says what is saved and what is live, and offers what can be done about it. */
export function createSaveBar({ save, discard, publish }: SaveBarActions) {
  const state = h('p', { class: 'save-state', role: 'status', 'data-testid': 'save-state' });
  const button = (label: string, kind: string, onclick: () => void) =>
    h('button', { type: 'button', class: `button ${kind}`, onclick }, label);
  const discardButton = button('Discard', 'button-quiet', discard);
  const saveButton = button('Save draft', '', save);
  const publishButton = button('Publish', 'button-primary', publish);
  let current: SaveState = { hasChanges: false, versionNumber: null, isPublished: false };
  let isBusy = false;

  function refresh(): void {
    const { hasChanges, isPublished } = current;
    state.textContent = isBusy ? 'Saving…' : words(current);
    state.classList.toggle('attention', hasChanges);
    discardButton.hidden = !hasChanges;
    saveButton.disabled = isBusy || !hasChanges;
    publishButton.disabled = isBusy || (!hasChanges && isPublished);
    publishButton.textContent = hasChanges ? 'Save and publish' : 'Publish';
  }

  return {
    element: h(
      'div',
      { class: 'save-bar' },
      state,
      h('div', { class: 'actions' }, discardButton, saveButton, publishButton),
    ),
    show(next: SaveState): void {
      current = next;
      refresh();
    },
    setBusy(busy: boolean): void {
      isBusy = busy;
      refresh();
    },
  };
}

function words({ hasChanges, versionNumber, isPublished }: SaveState): string {
  if (hasChanges) return 'Unsaved changes';
  if (versionNumber === null) return 'Draft saved, never published';
  return isPublished ? `Version ${versionNumber} is live` : `Draft saved; version ${versionNumber} is live`;
}
