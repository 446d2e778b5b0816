import { ApiError } from './api-request.ts';
import { fill, h } from './dom.ts';

/** What to tell the person about an error of any kind. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return error instanceof Error && error.message !== '' ? error.message : 'Something went wrong.';
}

/** Shows progress in `place`, then what `render` makes of the result, or the error with a way to try again. */
export function loadInto<T>(
  place: HTMLElement,
  load: () => Promise<T>,
  render: (value: T) => Node | readonly Node[],
): Promise<void> {
  const attempt = async (): Promise<void> => {
    place.setAttribute('aria-busy', 'true');
    fill(place, h('p', { class: 'muted loading' }, 'Loading…'));
    try {
      const nodes = render(await load());
      fill(place, ...(nodes instanceof Node ? [nodes] : nodes));
    } catch (error) {
      const retry = h(
        'button',
        { type: 'button', class: 'button', onclick: () => void attempt() },
        'Try again',
      );
      fill(place, h('div', { class: 'notice notice-error', role: 'alert' }, messageOf(error), retry));
    } finally {
      place.removeAttribute('aria-busy');
    }
  };
  return attempt();
}
