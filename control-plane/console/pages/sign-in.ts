import { isSendable } from '../credentials.ts';
import { h } from '../dom.ts';
import { field } from '../field.ts';
import { messageOf } from '../loading.ts';
import type { Page } from '../page.ts';

/** Asks for an API key. `signIn` rejects when the server doesn't take it. */
export function signInPage(signIn: (key: string) => Promise<void>, message: string | null): Page {
  const input = h('input', {
    type: 'password',
    name: 'key',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    required: true,
    'data-testid': 'api-key',
  });
  const keyField = field('API key', input, 'It stays in this tab and is forgotten when the tab closes.');
  const submit = h('button', { type: 'submit', class: 'button button-primary wide' }, 'Sign in');
  keyField.setError(message);

  const attempt = async () => {
    const key = input.value.trim();
    if (!isSendable(key)) {
      return keyField.setError(
        key === '' ? 'Enter your API key.' : 'A key has only plain letters, digits and signs.',
      );
    }
    submit.disabled = true;
    submit.textContent = 'Checking…';
    try {
      await signIn(key);
    } catch (error) {
      keyField.setError(messageOf(error));
      input.select();
    } finally {
      submit.disabled = false;
      submit.textContent = 'Sign in';
    }
  };

  const form = h(
    'form',
    {
      class: 'sign-in-form',
      novalidate: true,
      onsubmit: (event) => {
        event.preventDefault();
        void attempt();
      },
    },
    keyField.element,
    submit,
  );
  const element = h(
    'div',
    { class: 'sign-in' },
    h('img', { class: 'sign-in-mark', src: '/console/icon.svg', alt: '', width: 48, height: 48 }),
    h('h1', {}, 'Sign in to Parley'),
    h(
      'p',
      { class: 'muted' },
      'Use the API key that the server printed when it started, or one your administrator gave you.',
    ),
    form,
  );
  return { title: 'Sign in', element };
}
