import { parseHash, type Route } from './route.ts';

export interface RouterOptions {
  readonly open: (route: Route) => void;
  /** Asked before the page is left; null when nothing would be lost. */
  readonly leaveQuestion: () => string | null;
}

/** Opens a page for each address behind `#`, and puts the old address back when the person stays. */
export function startRouter({ open, leaveQuestion }: RouterOptions): void {
  let current = location.hash;
  window.addEventListener('hashchange', () => {
    const question = leaveQuestion();
    if (question !== null && !window.confirm(question)) {
      history.pushState(null, '', current === '' ? location.pathname : current);
      return;
    }
    current = location.hash;
    open(parseHash(current));
  });
  window.addEventListener('beforeunload', (event) => {
    if (leaveQuestion() !== null) event.preventDefault();
  });
  open(parseHash(current));
}
