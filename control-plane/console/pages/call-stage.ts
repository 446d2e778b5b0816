import { LevelMeter } from '../call/level-meter.ts';
import { fill, h } from '../dom.ts';
import { clockTime } from '../format.ts';

const AGENT_STATES: Readonly<Record<string, string>> = {
  initializing: 'Getting ready',
  idle: 'Waiting',
  listening: 'Listening',
  thinking: 'Thinking',
  speaking: 'Speaking',
};

/** What is going on in a call: its state, how long it has lasted, how loud both sides are, and a message. */
export function createCallStage(agentName: string, controls: HTMLElement) {
  const audio = new AudioContext();
  const meters = { caller: new LevelMeter('You', audio), agent: new LevelMeter(agentName, audio) };
  const state = h('p', { class: 'state', role: 'status', 'data-testid': 'call-state' });
  const timer = h('span', { class: 'timer', 'aria-hidden': 'true' });
  const message = h('div', { class: 'call-message' });
  const bars = [h('span'), h('span'), h('span'), h('span')];
  const element = h(
    'div',
    { class: 'stage' },
    h('div', { class: 'orb', 'aria-hidden': 'true' }, ...bars),
    h('div', { class: 'state-line' }, state, timer),
    h('div', { class: 'meters' }, meters.caller.element, meters.agent.element),
    message,
    controls,
  );
  let ticking = 0;

  function stop(): void {
    clearInterval(ticking);
    ticking = 0;
    meters.caller.stop();
    meters.agent.stop();
  }

  return {
    element,
    meters,
    stop,
    setState(name: string, words = AGENT_STATES[name] ?? name): void {
      element.dataset['state'] = name;
      // Said once: writing the same again would have it read out again.
      if (state.textContent !== words) state.textContent = words;
    },
    startTimer(): void {
      ticking ||= startTicking(timer);
    },
    tell(isError: boolean, ...content: (Node | string | false)[]): void {
      const kind = isError ? 'notice notice-error' : 'notice';
      fill(message, h('div', { class: kind, role: 'alert', 'data-testid': 'call-message' }, ...content));
    },
    clear(): void {
      fill(message);
      timer.textContent = '';
    },
    /** Sound may start only in answer to a click. */
    resumeAudio: () => void audio.resume(),
    dispose(): void {
      stop();
      void audio.close();
    },
  };
}

function startTicking(place: HTMLElement): number {
  const startedMs = performance.now();
  const show = () => {
    place.textContent = clockTime((performance.now() - startedMs) / 1000);
  };
  show();
  return setInterval(show, 1000);
}
