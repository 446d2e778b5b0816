import { loadResampler } from '../../media-worker/codec/resample.ts';
import { Ticker } from '../../media-worker/playout/ticker.ts';
import { openSession } from '../../media-worker/session/pipeline.ts';
import type { EventBody } from '../../media-worker/session/session-publisher.ts';
import type { AgentConfig } from '../../shared/agent-config.ts';
import type { SessionSpec } from '../../shared/generated/parley/v1/worker_link.ts';
import { silentLogger } from '../../shared/log.ts';
import type { TimelineItem } from '../../shared/session-timeline.ts';
import { tone } from '../support/pitch.ts';
import { FakeCallerConnection } from './fake-caller-connection.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeLlm, type FakeLlmStep } from './fake-llm.ts';
import { FakeTts } from './fake-tts.ts';
import { sessionSpec } from './fake-worker-session.ts';
import { createLoudnessVad } from './loudness-vad.ts';
import { ScriptedAsr } from './scripted-asr.ts';

type DeepPartial<T> = { [K in keyof T]?: T[K] extends object ? DeepPartial<T[K]> : T[K] };

export interface SessionSetup {
  readonly replies?: readonly (readonly FakeLlmStep[])[];
  readonly hears?: readonly (string | null)[];
  readonly finalDelayMs?: number;
  readonly spec?: Partial<SessionSpec>;
  readonly config?: DeepPartial<AgentConfig>;
}

const FRAME_MS = 10;

/** A whole call in memory, on a clock that moves only when told: the caller speaks in tones, the voice in 1000 Hz. */
export async function startCall(setup: SessionSetup = {}) {
  const clock = new FakeClock();
  const published: EventBody[] = [];
  const asr = new ScriptedAsr(clock, setup.hears ?? [], setup.finalDelayMs);
  const llm = new FakeLlm(clock, setup.replies ?? [[{ type: 'text', text: 'Yes.' }]]);
  const tts = new FakeTts({ clock });
  const ticker = new Ticker({
    nowMs: () => clock.monotonicMs(),
    after: (ms, callback) => {
      const stop = new AbortController();
      void clock.sleep(Math.max(1, ms), stop.signal).then(() => stop.signal.aborted || callback());
      return () => stop.abort();
    },
  });
  let hasEnded = false;
  const spec = sessionSpec('ses_test', {
    language: 'en',
    firstMessageMode: 'off',
    maxDurationS: 600,
    reconnectWindowMs: 15_000,
    agentConfigJson: JSON.stringify({ prompt: {}, voice: {}, ...setup.config }),
    ...setup.spec,
  });
  const session = await openSession(
    {
      vad: createLoudnessVad(),
      asr,
      llm,
      tts,
      openResampler: await loadResampler(),
      ticker,
      clock,
      log: silentLogger,
      publish: (_sessionId, event) => published.push(event),
      onTurnMeasured: () => {},
    },
    spec,
    () => {
      hasEnded = true;
    },
  );
  const connection = new FakeCallerConnection(() => clock.monotonicMs() - startMs);
  const startMs = clock.monotonicMs();
  const listener = session.attach(connection);

  /** The microphone is open for `ms`: a tone when the caller speaks, silence otherwise. */
  async function microphone(ms: number, isSpeaking: boolean): Promise<void> {
    for (let at = 0; at < ms; at += FRAME_MS) {
      listener.onAudio(isSpeaking ? tone(400, FRAME_MS, 16_000) : new Int16Array(160), 16_000);
      await clock.advance(FRAME_MS);
    }
  }

  return {
    session,
    clock,
    connection,
    listener,
    llm,
    tts,
    asr,
    published,
    nowMs: () => clock.monotonicMs() - startMs,
    hasEnded: () => hasEnded,
    join: () => listener.onMediaConnected(),
    speak: (ms: number) => microphone(ms, true),
    silence: (ms: number) => microphone(ms, false),
    items: () =>
      published.flatMap((event) =>
        event.$case === 'timelineItem' ? [JSON.parse(event.value.itemJson) as TimelineItem] : [],
      ),
    ended: () => published.flatMap((event) => (event.$case === 'ended' ? [event.value] : []))[0] ?? null,
  };
}
