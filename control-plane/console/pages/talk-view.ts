import type { CallPhase } from '../call/call-listener.ts';
import type { Ending } from '../call/ending.ts';
import { h } from '../dom.ts';
import { agentLink, sessionLink } from '../route.ts';
import { createCallControls } from './call-controls.ts';
import { createCallStage } from './call-stage.ts';
import { createMessageBox } from './message-box.ts';
import type { TalkAgent } from './talk-agent.ts';
import { createTalkTranscript } from './talk-transcript.ts';
import { createVersionChoice } from './version-choice.ts';

export interface TalkActions {
  readonly start: (withMicrophone: boolean) => void;
  readonly hangUp: () => void;
  readonly setMuted: (isMuted: boolean) => void;
  readonly unlockSound: () => void;
  readonly typing: () => void;
  readonly say: (text: string) => void;
}

const BUILT_IN_NOTE =
  'Without engine settings, replies come from Parley’s built-in responder, which is not a language model: it answers ' +
  'by rules from the agent’s prompt. The built-in recogniser knows English only; expect it to mishear about every ' +
  'third to fifth word of an unknown voice, and more in noise. The built-in voices are plain.';

/** Everything that the talk page shows. It knows nothing of the network. */
export function createTalkView(agent: TalkAgent, actions: TalkActions) {
  const transcript = createTalkTranscript(agent.name);
  const messageBox = createMessageBox(actions);
  const versionChoice = createVersionChoice(agent);
  const controls = createCallControls({
    ...actions,
    start: (withMicrophone) => {
      stage.resumeAudio();
      actions.start(withMicrophone);
    },
  });
  const stage = createCallStage(agent.name, controls.element);
  let agentState = '';

  function showIdle(words: string): void {
    stage.stop();
    stage.setState('ready', words);
    messageBox.setEnabled(false);
    versionChoice.setEnabled(true);
  }

  showIdle('Ready');
  controls.showReady('Start conversation');
  return {
    element: layOut(agent, versionChoice.element, stage.element, [transcript.element, messageBox.element]),
    transcript,
    wantsDraft: versionChoice.wantsDraft,
    showAgentState(next: string): void {
      agentState = next;
      stage.setState(next);
    },
    followAgent: (track: MediaStreamTrack) => stage.meters.agent.follow(track),
    showSoundBlocked: controls.showSoundBlocked,
    showStarting(withMicrophone: boolean): void {
      stage.clear();
      transcript.clear();
      agentState = '';
      versionChoice.setEnabled(false);
      controls.showBusy();
      stage.setState('connecting', withMicrophone ? 'Allow the microphone' : 'Connecting');
    },
    showCall(track: MediaStreamTrack | null): void {
      stage.resumeAudio();
      if (track) stage.meters.caller.follow(track);
      controls.showInCall(track !== null);
    },
    showPhase(phase: CallPhase): void {
      if (phase === 'connecting') return stage.setState('connecting', 'Connecting');
      if (phase === 'reconnecting') return stage.setState('reconnecting', 'Reconnecting…');
      messageBox.setEnabled(true);
      stage.startTimer();
      stage.setState(agentState || 'initializing');
    },
    showRefused(text: string, isMicrophone: boolean): void {
      showIdle('Not connected');
      stage.tell(true, text);
      controls.showReady('Try again', isMicrophone);
    },
    showEnded(ending: Ending, sessionId: string | null): void {
      showIdle('Ended');
      const link = sessionId !== null && h('a', { href: sessionLink(sessionId) }, 'Read the transcript');
      stage.tell(!ending.isOrderly, h('span', { 'data-testid': 'call-ended' }, ending.message), link);
      controls.showReady('Talk again');
    },
    dispose: stage.dispose,
  };
}

function layOut(
  agent: TalkAgent,
  version: HTMLElement,
  stage: HTMLElement,
  side: HTMLElement[],
): HTMLElement {
  return h(
    'div',
    { class: 'talk' },
    h(
      'div',
      { class: 'talk-head' },
      h('h1', {}, agent.name),
      h('a', { href: agentLink(agent.agentId) }, 'Edit'),
      version,
    ),
    stage,
    h('section', { class: 'talk-side', 'aria-label': 'Conversation' }, ...side),
    h('p', { class: 'built-in-note', 'data-testid': 'built-in-note' }, BUILT_IN_NOTE),
  );
}
