import { DEFAULT_SPEECH_GATE } from '../../media-worker/vad/speech-gate.ts';
import { STUB_DELAYS } from './bench-worker.ts';

/** The wait after the last word that an agent has when it doesn't say otherwise. */
export const RESPONSE_WAIT_MS = 550;

/** The moments of a turn as the worker reports them, in ms on the session's clock. */
export type Waterfall = Readonly<Record<string, number | null>>;

interface Stage {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** What the stub engines and the agent's own settings take of it. */
  readonly givenMs: number;
}

/** The steps of a turn, of each the part that is neither an engine's nor a setting's. */
export const STAGES: readonly Stage[] = [
  {
    name: 'last word → final text',
    from: 'speech_ended',
    to: 'asr_final',
    givenMs: DEFAULT_SPEECH_GATE.hangoverMs + STUB_DELAYS.asrFinalMs,
  },
  { name: 'last word → end of turn', from: 'speech_ended', to: 'end_of_turn', givenMs: RESPONSE_WAIT_MS },
  {
    name: 'end of turn → first token',
    from: 'end_of_turn',
    to: 'llm_first_token',
    givenMs: STUB_DELAYS.llmFirstTokenMs,
  },
  { name: 'first token → sentence', from: 'llm_first_token', to: 'first_sentence', givenMs: 0 },
  {
    name: 'sentence → first audio',
    from: 'first_sentence',
    to: 'tts_first_audio',
    givenMs: STUB_DELAYS.ttsFirstAudioMs,
  },
  { name: 'first audio → frame out', from: 'tts_first_audio', to: 'first_frame_out', givenMs: 0 },
];

/** Everything between the decision that the turn is over and the first frame of the answer, engines excluded. */
export const OWN_SHARE: Stage = {
  name: 'own share: end of turn → frame out',
  from: 'end_of_turn',
  to: 'first_frame_out',
  givenMs: STUB_DELAYS.llmFirstTokenMs + STUB_DELAYS.ttsFirstAudioMs,
};

/** Our own ms of a stage, of each turn that has both of its moments. */
export function ownMs(stage: Stage, turns: readonly Waterfall[]): number[] {
  return turns.flatMap((turn) => {
    const from = turn[`${stage.from}_ms`];
    const to = turn[`${stage.to}_ms`];
    return typeof from === 'number' && typeof to === 'number' ? [to - from - stage.givenMs] : [];
  });
}
