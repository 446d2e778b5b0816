import { isBackchannel, wordCount } from './backchannel.ts';
import { endOfTurnWaitMs } from './end-of-turn-wait.ts';
import type { EndReason, TurnCommand, TurnEvent } from './turn-event.ts';
import { type TurnState, turnText, type Utterance } from './turn-state.ts';

export interface Transition {
  readonly state: TurnState;
  readonly commands: readonly TurnCommand[];
}

/** A final that is later than this after the end of the turn is not waited for: the partial text stands. */
const LATE_FINAL_MS = 2_500;
/** A pause over which nothing was understood ends after this long without speech. */
const FALSE_INTERRUPTION_MS = 1_500;
/** Words that count as an interruption, by sensitivity. */
const INTERRUPTING_WORDS = { high: 1, balanced: 1, low: 3 } as const;

/**
 * The turn machine: a pure function of what has happened to what is done about it. No clock, no I/O; waiting is a
 * timer command that comes back as an event. The same events give the same commands on every machine.
 */
export function reduce(state: TurnState, event: TurnEvent): Transition {
  if (state.phase === 'ended') return stay(state);
  switch (event.type) {
    case 'caller.joined':
      return joined(state, event.atMs);
    case 'caller.lost':
      return lost(state, event.atMs);
    case 'caller.back':
      return back(state);
    case 'caller.left':
    case 'client.hangup':
      return end(state, 'user_hangup', event.type);
    case 'end.requested':
      return end(state, event.endReason, 'ended from outside');
    case 'speech.started':
      return speechStarted(state, event.utterance);
    case 'speech.ended':
      return speechEnded(state, event.atMs, event.lastSpeechMs);
    case 'transcript':
      return transcript(state, event.atMs, { id: event.utterance, text: event.text, isFinal: event.isFinal });
    case 'transcript.failed': {
      const known = state.utterances.find((u) => u.id === event.utterance);
      return known ? transcript(state, event.atMs, { ...known, isFinal: true }) : stay(state);
    }
    case 'playout.started':
      return playoutStarted(state, event.epoch);
    case 'playout.finished':
      return playoutFinished(state, event.atMs, event.epoch);
    case 'reply.hangs_up':
      return state.reply && isCurrent(state, event.epoch)
        ? stay({ ...state, reply: { ...state.reply, hangsUp: true } })
        : stay(state);
    case 'client.message':
      return clientMessage(state, event.text, event.wantsAudio);
    case 'client.interrupt':
      return state.reply
        ? listen({ ...state, reply: null }, event.atMs, 'client interrupts', [
            cancel(state.reply.epoch, 'client interrupts'),
          ])
        : stay(state);
    case 'client.activity':
      return { state, commands: state.reply ? [] : [idleTimer(state, event.atMs)] };
    case 'timer':
      return timer(state, event.atMs, event.timer);
  }
}

function joined(state: TurnState, atMs: number): Transition {
  if (state.phase !== 'waiting') return stay(state);
  const live: TurnState = { ...state, phase: 'live' };
  const deadline: TurnCommand = {
    type: 'timer.set',
    timer: 'max_duration',
    atMs: atMs + state.settings.maxDurationMs,
    why: 'call began',
  };
  if (!state.settings.hasGreeting) return listen(live, atMs, 'no greeting', [deadline]);
  const started = startReply(live, 0, 'greeting', true, 'greeting');
  return { state: started.state, commands: [deadline, ...started.commands] };
}

function lost(state: TurnState, atMs: number): Transition {
  if (state.phase !== 'live') return stay(state);
  const commands: TurnCommand[] = [
    {
      type: 'timer.set',
      timer: 'reconnect',
      atMs: atMs + state.settings.reconnectWindowMs,
      why: 'transport dropped',
    },
  ];
  const reply = state.reply;
  if (reply && !reply.isPaused)
    commands.push({ type: 'pause', epoch: reply.epoch, why: 'transport dropped' });
  commands.push({ type: 'timer.clear', timer: 'idle', why: 'transport dropped' });
  return {
    state: { ...state, phase: 'lost', isCallerSpeaking: false, reply: reply && { ...reply, isPaused: true } },
    commands,
  };
}

function back(state: TurnState): Transition {
  if (state.phase !== 'lost') return stay(state);
  const commands: TurnCommand[] = [{ type: 'timer.clear', timer: 'reconnect', why: 'caller is back' }];
  const reply = state.reply;
  if (reply) commands.push({ type: 'resume', epoch: reply.epoch, why: 'caller is back' });
  return { state: { ...state, phase: 'live', reply: reply && { ...reply, isPaused: false } }, commands };
}

function speechStarted(state: TurnState, id: number): Transition {
  const commands: TurnCommand[] = (['end_of_turn', 'late_final', 'false_interruption', 'idle'] as const).map(
    (name) => ({
      type: 'timer.clear',
      timer: name,
      why: 'caller speaks',
    }),
  );
  const next: TurnState = {
    ...state,
    isCallerSpeaking: true,
    isTurnOver: false,
    utterances: [...state.utterances, { id, text: '', isFinal: false }],
  };
  const reply = state.reply;
  if (!reply || reply.isPaused || !state.settings.isInterruptible) return { state: next, commands };
  commands.push({ type: 'pause', epoch: reply.epoch, why: 'caller speaks over the agent' });
  return { state: { ...next, reply: { ...reply, isPaused: true } }, commands };
}

function speechEnded(state: TurnState, atMs: number, lastSpeechMs: number): Transition {
  const quiet: TurnState = { ...state, isCallerSpeaking: false, lastSpeechMs };
  if (state.reply?.isPaused) {
    if (allFinal(quiet)) return judgeInterruption(quiet);
    return {
      state: quiet,
      commands: [
        {
          type: 'timer.set',
          timer: 'false_interruption',
          atMs: atMs + FALSE_INTERRUPTION_MS,
          why: 'nothing understood yet',
        },
      ],
    };
  }
  return { state: quiet, commands: [endOfTurnTimer(quiet)] };
}

function transcript(state: TurnState, atMs: number, heard: Utterance): Transition {
  if (!state.utterances.some((u) => u.id === heard.id)) return stay(state);
  const next: TurnState = {
    ...state,
    utterances: state.utterances.map((u) => (u.id === heard.id ? heard : u)),
  };
  if (next.reply?.isPaused) return judgeInterruption(next);
  if (next.isCallerSpeaking) return stay(next);
  if (next.isTurnOver) return allFinal(next) ? commit(next, atMs, 'final text after the wait') : stay(next);
  return { state: next, commands: [endOfTurnTimer(next)] };
}

/** The reply is paused because the caller made a sound: words cancel it, anything else lets it go on. */
function judgeInterruption(state: TurnState): Transition {
  const reply = state.reply;
  if (!reply || state.phase !== 'live') return stay(state);
  const { language, ignorePhrases, interruptionSensitivity } = state.settings;
  const text = turnText(state);
  const isTaking =
    !isBackchannel(text, language, ignorePhrases) &&
    wordCount(text, language) >= INTERRUPTING_WORDS[interruptionSensitivity];
  if (isTaking) {
    const commands: TurnCommand[] = [
      cancel(reply.epoch, 'caller interrupts'),
      { type: 'timer.clear', timer: 'false_interruption', why: 'caller interrupts' },
      { type: 'show', state: 'listening', why: 'caller interrupts' },
    ];
    const next: TurnState = { ...state, reply: null };
    if (!next.isCallerSpeaking) commands.push(endOfTurnTimer(next));
    return { state: next, commands };
  }
  if (state.isCallerSpeaking || !allFinal(state)) return stay(state);
  return goOn(state, text === '' ? 'nothing was said' : 'backchannel');
}

function goOn(state: TurnState, why: string): Transition {
  const reply = state.reply;
  if (!reply) return stay(state);
  const commands: TurnCommand[] = [{ type: 'timer.clear', timer: 'false_interruption', why }];
  if (state.utterances.length > 0)
    commands.push({ type: 'discard', utterances: state.utterances.map((u) => u.id), why });
  commands.push({ type: 'resume', epoch: reply.epoch, why });
  return {
    state: { ...state, utterances: [], isTurnOver: false, reply: { ...reply, isPaused: false } },
    commands,
  };
}

function playoutStarted(state: TurnState, epoch: number): Transition {
  if (!state.reply || !isCurrent(state, epoch)) return stay(state);
  return {
    state: { ...state, reply: { ...state.reply, isAudible: true } },
    commands: [{ type: 'show', state: 'speaking', why: 'first frame out' }],
  };
}

function playoutFinished(state: TurnState, atMs: number, epoch: number): Transition {
  if (!state.reply || !isCurrent(state, epoch)) return stay(state);
  if (state.reply.hangsUp) return end(state, 'agent_hangup', 'agent hangs up');
  const next: TurnState = { ...state, reply: null };
  if (next.isTurnOver && allFinal(next) && turnText(next) !== '')
    return commit(next, atMs, 'agent has finished');
  return listen(next, atMs, 'reply was heard');
}

function clientMessage(state: TurnState, text: string, wantsAudio: boolean): Transition {
  const commands: TurnCommand[] = [];
  if (state.reply) commands.push(cancel(state.reply.epoch, 'typed message'));
  commands.push(
    { type: 'timer.clear', timer: 'end_of_turn', why: 'typed message' },
    { type: 'timer.clear', timer: 'idle', why: 'typed message' },
  );
  const said = [turnText(state), text].filter((part) => part !== '').join(' ');
  commands.push({ type: 'commit', turn: state.turn, text: said, why: 'typed message' });
  const started = startReply(
    { ...state, reply: null, utterances: [], isTurnOver: false },
    state.turn,
    'caller',
    wantsAudio,
    'typed message',
  );
  return { state: { ...started.state, turn: state.turn + 1 }, commands: [...commands, ...started.commands] };
}

function timer(state: TurnState, atMs: number, name: string): Transition {
  switch (name) {
    case 'max_duration':
      return end(state, 'conversation_timeout', 'longest duration reached');
    case 'reconnect':
      return state.phase === 'lost'
        ? end(state, 'heartbeat_timeout', 'caller did not come back')
        : stay(state);
    case 'idle':
      return state.reply || state.isCallerSpeaking ? stay(state) : end(state, 'agent_hangup', 'nobody spoke');
    case 'false_interruption':
      return state.isCallerSpeaking || !state.reply?.isPaused
        ? stay(state)
        : goOn(state, 'nothing was understood in time');
    case 'late_final':
      return state.isTurnOver ? commit(state, atMs, 'final text is late') : stay(state);
    case 'end_of_turn':
      return endOfTurn(state, atMs);
    default:
      return stay(state);
  }
}

function endOfTurn(state: TurnState, atMs: number): Transition {
  if (state.isCallerSpeaking || state.utterances.length === 0) return stay(state);
  const over: TurnState = { ...state, isTurnOver: true };
  if (allFinal(over)) return commit(over, atMs, 'silence after the last word');
  return {
    state: over,
    commands: [
      { type: 'timer.set', timer: 'late_final', atMs: atMs + LATE_FINAL_MS, why: 'text is not final' },
    ],
  };
}

function commit(state: TurnState, atMs: number, why: string): Transition {
  const text = turnText(state);
  const cleared: TurnState = { ...state, utterances: [], isTurnOver: false };
  if (text === '') {
    const commands: TurnCommand[] =
      state.utterances.length > 0
        ? [{ type: 'discard', utterances: state.utterances.map((u) => u.id), why: 'nothing was said' }]
        : [];
    return state.reply ? { state: cleared, commands } : listen(cleared, atMs, 'nothing was said', commands);
  }
  // An agent that may not be interrupted answers what was said meanwhile when it has finished.
  if (state.reply) return stay({ ...state, isTurnOver: true });
  const started = startReply(cleared, state.turn, 'caller', true, why);
  return {
    state: { ...started.state, turn: state.turn + 1 },
    commands: [
      { type: 'timer.clear', timer: 'late_final', why },
      { type: 'commit', turn: state.turn, text, why },
      ...started.commands,
    ],
  };
}

function startReply(
  state: TurnState,
  turn: number,
  trigger: 'greeting' | 'caller',
  wantsAudio: boolean,
  why: string,
): Transition {
  const epoch = state.epoch + 1;
  return {
    state: { ...state, epoch, reply: { epoch, isAudible: false, isPaused: false, hangsUp: false } },
    commands: [
      { type: 'show', state: 'thinking', why },
      { type: 'reply', epoch, turn, trigger, wantsAudio, why },
    ],
  };
}

function listen(
  state: TurnState,
  atMs: number,
  why: string,
  before: readonly TurnCommand[] = [],
): Transition {
  return { state, commands: [...before, { type: 'show', state: 'listening', why }, idleTimer(state, atMs)] };
}

function end(state: TurnState, endReason: EndReason, why: string): Transition {
  const commands: TurnCommand[] = state.reply ? [cancel(state.reply.epoch, why)] : [];
  const text = turnText(state);
  if (text !== '') commands.push({ type: 'commit', turn: state.turn, text, why: 'call ended' });
  const status =
    endReason === 'internal_error' || endReason === 'llm_endpoint_failure' || endReason === 'cancelled'
      ? 'failed'
      : 'completed';
  commands.push({ type: 'end', status, endReason, why });
  return { state: { ...state, phase: 'ended', reply: null, utterances: [] }, commands };
}

function endOfTurnTimer(state: TurnState): TurnCommand {
  return {
    type: 'timer.set',
    timer: 'end_of_turn',
    atMs: state.lastSpeechMs + endOfTurnWaitMs(state.settings, turnText(state)),
    why: 'caller is silent',
  };
}

function idleTimer(state: TurnState, atMs: number): TurnCommand {
  return {
    type: 'timer.set',
    timer: 'idle',
    atMs: atMs + state.settings.hangupAfterMs,
    why: 'nobody speaks',
  };
}

function cancel(epoch: number, why: string): TurnCommand {
  return { type: 'cancel', epoch, why };
}

function isCurrent(state: TurnState, epoch: number): boolean {
  return state.reply?.epoch === epoch;
}

function allFinal(state: TurnState): boolean {
  return state.utterances.every((u) => u.isFinal);
}

function stay(state: TurnState): Transition {
  return { state, commands: [] };
}
