import type { SessionStatus } from './api-types.ts';
import { h } from './dom.ts';
import { STATUS_WORDS } from './format.ts';

const KIND: Readonly<Record<SessionStatus, string>> = {
  pending: '',
  active: 'badge-good',
  completed: '',
  failed: 'badge-bad',
  unknown: 'badge-bad',
};

export function statusBadge(status: SessionStatus): HTMLElement {
  return h('span', { class: `badge ${KIND[status]}`, 'data-testid': 'session-status' }, STATUS_WORDS[status]);
}
