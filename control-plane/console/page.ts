import type { Api } from './api.ts';
import type { Choices } from './api-types.ts';

/** One screen of the console. */
export interface Page {
  readonly title: string;
  readonly element: HTMLElement;
  /** Question to put before the page is left; null when nothing would be lost. */
  readonly leaveQuestion?: () => string | null;
  /** Ends what still runs; called once, after the page was left. */
  readonly dispose?: () => void;
}

/** What every page may use. */
export interface PageContext {
  readonly api: Api;
  readonly choices: Choices;
  /** Shows a short message at the edge of the screen and says it to screen readers. */
  readonly notify: (message: string) => void;
}

export function go(hash: string): void {
  location.hash = hash;
}
