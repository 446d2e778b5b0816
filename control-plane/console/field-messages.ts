import { type DraftField, fieldOfIssue } from './agent-draft.ts';
import type { FieldIssue } from './api-types.ts';

/** Messages by field; what belongs to no shown field is in `others`, with its place named. */
export interface FieldMessages {
  readonly byField: ReadonlyMap<DraftField, string>;
  readonly others: readonly string[];
}

export function fieldMessages(issues: readonly FieldIssue[]): FieldMessages {
  const byField = new Map<DraftField, string>();
  const others: string[] = [];
  for (const { loc, msg } of issues) {
    const field = fieldOfIssue(loc);
    const message = inPlainWords(msg);
    if (field === null) others.push(`${loc.slice(1).join(' › ')}: ${message}`);
    else if (!byField.has(field)) byField.set(field, message);
  }
  return { byField, others };
}

/** The validator's sentence as a person would say it. */
function inPlainWords(msg: string): string {
  const plain = msg
    .replace(/^Value error, /, '')
    .replace(/^(?:String|Input) should /, 'This should ')
    .replace(/^Field required$/, 'This is needed')
    .replace('have at least 1 character', 'not be empty');
  const sentence = plain.charAt(0).toUpperCase() + plain.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
