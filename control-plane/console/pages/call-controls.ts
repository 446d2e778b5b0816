import { microphoneObstacle } from '../call/microphone.ts';
import { fill, h } from '../dom.ts';
import { icon } from '../icons.ts';

export interface CallControlActions {
  readonly start: (withMicrophone: boolean) => void;
  readonly hangUp: () => void;
  readonly setMuted: (isMuted: boolean) => void;
  readonly unlockSound: () => void;
}

/** The buttons of a call, for each of its stages. */
export function createCallControls(actions: CallControlActions) {
  const element = h('div', { class: 'controls' });
  const start = h('button', {
    type: 'button',
    class: 'button button-primary button-large',
    'data-testid': 'start-call',
    onclick: () => actions.start(true),
  });
  const type = h(
    'button',
    {
      type: 'button',
      class: 'button button-large',
      'data-testid': 'start-typing',
      onclick: () => actions.start(false),
    },
    'Type instead',
  );
  const hangUp = h(
    'button',
    {
      type: 'button',
      class: 'button button-danger button-large',
      'data-testid': 'hang-up',
      onclick: actions.hangUp,
    },
    icon('hang-up'),
    'Hang up',
  );
  const mute = h('button', { type: 'button', class: 'button button-large', 'data-testid': 'mute' });
  const unlock = h(
    'button',
    { type: 'button', class: 'button button-primary button-large', onclick: actions.unlockSound },
    'Turn the sound on',
  );
  let isMuted = false;
  let wantsFocus = false;

  mute.addEventListener('click', () => {
    isMuted = !isMuted;
    actions.setMuted(isMuted);
    drawMute();
  });

  /** Shows these; whoever stood on a button that goes finds the focus on the first that comes. */
  function show(...buttons: (HTMLButtonElement | false)[]): void {
    wantsFocus ||= element.contains(document.activeElement);
    fill(element, ...buttons);
    const first = buttons.find((button) => button !== false && !button.disabled && !button.hidden);
    if (!wantsFocus || !first) return;
    first.focus();
    wantsFocus = false;
  }

  function drawMute(): void {
    fill(mute, icon(isMuted ? 'mic-off' : 'mic'), isMuted ? 'Unmute' : 'Mute');
  }

  return {
    element,
    /** `offersTyping`: there is no microphone, and a conversation by typing is the way out. */
    showReady(label: string, offersTyping = false): void {
      fill(start, icon('mic'), label);
      show(start, (offersTyping || microphoneObstacle() !== null) && type);
    },
    showBusy(): void {
      show(h('button', { type: 'button', class: 'button button-large', disabled: true }, 'Connecting…'));
    },
    showInCall(hasMicrophone: boolean): void {
      isMuted = false;
      drawMute();
      unlock.hidden = true;
      show(unlock, hasMicrophone && mute, hangUp);
    },
    showSoundBlocked(isBlocked: boolean): void {
      unlock.hidden = !isBlocked;
    },
  };
}
