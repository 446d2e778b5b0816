import { ApiError } from '../api-request.ts';
import type { SessionToken } from '../api-types.ts';
import { Call } from '../call/call.ts';
import type { Ending } from '../call/ending.ts';
import { MicrophoneUnavailable, openMicrophone } from '../call/microphone.ts';
import { messageOf } from '../loading.ts';
import type { PageContext } from '../page.ts';
import type { TalkAgent } from './talk-agent.ts';
import { createTalkView } from './talk-view.ts';

/** How often at most the agent hears that the person is typing. */
const ACTIVITY_MS = 3000;

/** Calls an agent as often as the person likes, one call at a time. */
export function createTalk({ api }: PageContext, agent: TalkAgent) {
  let call: Call | null = null;
  let isStarting = false;
  let isDisposed = false;
  let lastActivityMs = Number.NEGATIVE_INFINITY;

  const view = createTalkView(agent, {
    start: (withMicrophone) => void start(withMicrophone),
    hangUp: () => void call?.hangUp(),
    setMuted: (isMuted) => void call?.setMuted(isMuted),
    unlockSound: () => void call?.unlockSound(),
    typing: () => {
      if (performance.now() - lastActivityMs < ACTIVITY_MS) return;
      lastActivityMs = performance.now();
      call?.showActivity();
    },
    say: (text) => {
      call?.say(text).then(
        () => view.transcript.addTyped(text),
        (error: unknown) => view.transcript.addNote(`Not sent: ${messageOf(error)}`),
      );
    },
  });

  async function start(withMicrophone: boolean): Promise<void> {
    if (isStarting || call) return;
    isStarting = true;
    view.showStarting(withMicrophone);
    let microphone: MediaStreamTrack | null = null;
    try {
      // Before the session is made: a refused microphone costs nothing.
      microphone = withMicrophone ? await openMicrophone() : null;
      const token = await createSession();
      if (isDisposed) {
        microphone?.stop();
        await api.endSession(token.session_id);
        return;
      }
      await connect(token, microphone);
    } catch (error) {
      microphone?.stop();
      view.showRefused(whyNot(error), error instanceof MicrophoneUnavailable);
    } finally {
      isStarting = false;
    }
  }

  function createSession(): Promise<SessionToken> {
    const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    return view.wantsDraft()
      ? api.previewDraft(agent.agentId, timezone)
      : api.startSession(agent.agentId, timezone);
  }

  async function connect(token: SessionToken, microphone: MediaStreamTrack | null): Promise<void> {
    const isListed = !view.wantsDraft();
    let wasLive = false;
    const onEnded = (ending: Ending) => {
      call = null;
      view.showEnded(ending, isListed && wasLive ? token.session_id : null);
      // A session that nobody joined is given back at once instead of at its deadline.
      if (!wasLive) api.endSession(token.session_id).catch(() => {});
    };
    call = new Call(microphone, {
      onPhase: (phase) => {
        if (phase === 'live') wasLive = true;
        view.showPhase(phase);
      },
      onAgentState: view.showAgentState,
      onPiece: view.transcript.addPiece,
      onNote: view.transcript.addNote,
      onAgentAudio: view.followAgent,
      onSoundBlocked: view.showSoundBlocked,
      onEnded,
    });
    view.showCall(microphone);
    await call.connect(token.rtc_url, token.token);
  }

  return {
    element: view.element,
    start,
    isCalling: () => call !== null || isStarting,
    dispose: () => {
      isDisposed = true;
      void call?.hangUp();
      view.dispose();
    },
  };
}

/** Why a call could not begin, in the words of somebody who wants to talk. */
function whyNot(error: unknown): string {
  const status = error instanceof ApiError ? error.status : null;
  if (status === 402) return 'The credit of this account is used up.';
  if (status === 502) return 'No voice worker is free just now. Try again in a moment.';
  return messageOf(error);
}
