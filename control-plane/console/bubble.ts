import { h } from './dom.ts';

export interface BubbleOptions {
  readonly side: 'user' | 'agent';
  readonly speaker: string;
  readonly text: string;
  readonly time?: string | null;
  readonly isInterrupted?: boolean;
}

/** One message of a transcript; the text can change while somebody is still speaking. */
export function bubble({ side, speaker, text, time = null, isInterrupted = false }: BubbleOptions) {
  const content = h('span', { class: 'bubble-text', dir: 'auto' }, text);
  const element = h(
    'li',
    { class: `bubble bubble-${side}`, 'data-role': side, 'data-testid': 'message' },
    h('span', { class: 'bubble-speaker' }, time === null ? speaker : `${speaker} · ${time}`),
    h(
      'span',
      { class: 'bubble-body' },
      content,
      isInterrupted && h('span', { class: 'interrupted', 'data-testid': 'interrupted' }, 'interrupted here'),
    ),
  );
  return {
    element,
    update(next: string, isFinal: boolean): void {
      content.textContent = next;
      element.dataset['final'] = String(isFinal);
    },
  };
}
