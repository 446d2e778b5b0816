import { h, uniqueId } from './dom.ts';

export type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** A labelled control with a place for help and for what is wrong with it. */
export interface Field {
  readonly element: HTMLElement;
  /** Null: nothing is wrong. */
  readonly setError: (message: string | null) => void;
}

export function field(label: string, control: Control, help: Node | string | null = null): Field {
  const id = uniqueId('field');
  control.id = id;
  const helpElement = help === null ? null : h('div', { class: 'help', id: `${id}-help` }, help);
  const error = h('p', { class: 'field-error', id: `${id}-error`, role: 'alert' });
  error.hidden = true;
  control.setAttribute('aria-describedby', helpElement ? `${id}-error ${id}-help` : `${id}-error`);
  const isCheckbox = control instanceof HTMLInputElement && control.type === 'checkbox';
  const labelElement = h('label', { for: id }, label);
  const element = isCheckbox
    ? h('div', { class: 'field field-check' }, control, h('div', {}, labelElement, helpElement, error))
    : h('div', { class: 'field' }, labelElement, control, helpElement, error);
  return {
    element,
    setError: (message) => {
      error.textContent = message ?? '';
      error.hidden = message === null;
      control.setAttribute('aria-invalid', String(message !== null));
    },
  };
}

export function options(
  values: readonly (readonly [value: string, label: string])[],
  selected: string,
): HTMLOptionElement[] {
  return values.map(([value, label]) => h('option', { value, selected: value === selected }, label));
}
