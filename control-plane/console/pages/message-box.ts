import { h } from '../dom.ts';
import { icon } from '../icons.ts';

const MAX_CHARS = 10_000;

export interface MessageBoxActions {
  readonly typing: () => void;
  readonly say: (text: string) => void;
}

/** A line to type to the agent during a call. */
export function createMessageBox({ typing, say }: MessageBoxActions) {
  const input = h('input', {
    type: 'text',
    class: 'message-input',
    'aria-label': 'Message to the agent',
    autocomplete: 'off',
    enterkeyhint: 'send',
    maxlength: MAX_CHARS,
    'data-testid': 'message-input',
    oninput: typing,
  });
  const send = h(
    'button',
    { type: 'submit', class: 'button button-icon', 'aria-label': 'Send', 'data-testid': 'send' },
    icon('send'),
  );
  const form = h(
    'form',
    {
      class: 'message-box',
      onsubmit: (event) => {
        event.preventDefault();
        const text = input.value.trim();
        if (text === '') return;
        say(text);
        input.value = '';
      },
    },
    input,
    send,
  );
  return {
    element: form,
    setEnabled(isEnabled: boolean): void {
      input.disabled = !isEnabled;
      send.disabled = !isEnabled;
      input.placeholder = isEnabled ? 'Or type a message' : 'Type here during a call';
    },
  };
}
