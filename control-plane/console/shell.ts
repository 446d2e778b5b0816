import { fill, h } from './dom.ts';
import type { Page } from './page.ts';

const TOAST_MS = 5000;

/** The frame around every page: head, messages, and the place where pages come and go. */
export function createShell(root: HTMLElement, onSignOut: () => void) {
  const links = [
    h('a', { href: '#/agents', 'data-section': 'agents' }, 'Agents'),
    h('a', { href: '#/sessions', 'data-section': 'sessions' }, 'Conversations'),
  ];
  const header = h(
    'header',
    { class: 'top' },
    h(
      'div',
      { class: 'top-inner' },
      h('a', { class: 'brand', href: '#/agents' }, h('img', { src: '/console/icon.svg', alt: '' }), 'Parley'),
      h('nav', { 'aria-label': 'Main' }, ...links),
      h('button', { type: 'button', class: 'button button-quiet', onclick: onSignOut }, 'Sign out'),
    ),
  );
  const main = h('main', { id: 'main', tabindex: -1 });
  const toast = h('div', { class: 'toast', role: 'status', 'aria-live': 'polite' });
  const skip = h('button', { type: 'button', class: 'skip', onclick: () => main.focus() }, 'Skip to content');
  let toastTimer = 0;
  let isFirst = true;

  /** Replaces the page. The heading gets the focus, so that keyboards and screen readers start there. */
  function show(page: Page, section: string | null): void {
    if (section === null) fill(root, main, toast);
    else fill(root, skip, header, main, toast);
    for (const link of links) {
      if (link.dataset['section'] === section) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    fill(main, page.element);
    document.title = `${page.title} · Parley`;
    window.scrollTo(0, 0);
    const heading = main.querySelector('h1');
    heading?.setAttribute('tabindex', '-1');
    if (!isFirst) heading?.focus({ preventScroll: true });
    isFirst = false;
  }

  function notify(message: string): void {
    toast.textContent = message;
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => {
      toast.textContent = '';
    }, TOAST_MS);
  }

  return { show, notify };
}
export type Shell = ReturnType<typeof createShell>;
