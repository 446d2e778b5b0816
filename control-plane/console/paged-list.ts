import { h } from './dom.ts';
import { messageOf } from './loading.ts';

export interface Rows<T> {
  readonly rows: readonly T[];
  /** Cursor of the next page; null at the end. */
  readonly next: string | null;
}

export interface PagedListOptions<T> {
  readonly first: Rows<T>;
  readonly more: (cursor: string) => Promise<Rows<T>>;
  readonly row: (value: T) => HTMLLIElement;
  readonly label: string;
}

/** A list that grows by a page at a time. */
export function pagedList<T>({ first, more, row, label }: PagedListOptions<T>): HTMLElement {
  const list = h('ul', { class: 'rows', 'aria-label': label }, ...first.rows.map(row));
  const button = h('button', { type: 'button', class: 'button more' }, 'Show more');
  const problem = h('p', { class: 'field-error', role: 'alert' });
  let next = first.next;
  button.hidden = next === null;

  button.addEventListener('click', async () => {
    if (next === null) return;
    button.disabled = true;
    problem.textContent = '';
    try {
      const page = await more(next);
      const added = page.rows.map(row);
      list.append(...added);
      added[0]?.querySelector('a')?.focus();
      next = page.next;
      button.hidden = next === null;
    } catch (error) {
      problem.textContent = messageOf(error);
    } finally {
      button.disabled = false;
    }
  });
  return h('div', {}, list, problem, button);
}
