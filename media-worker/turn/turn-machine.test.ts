import { describe, expect, test } from 'vitest';
import type { TurnCommand, TurnEvent } from './turn-event.ts';
import { reduce } from './turn-machine.ts';
import { initialTurnState, type TurnSettings, type TurnState } from './turn-state.ts';

const SETTINGS: TurnSettings = {
  language: 'en',
  hasGreeting: false,
  responseWaitMs: 550,
  responseMaxWaitMs: null,
  eagerness: 'balanced',
  isInterruptible: true,
  interruptionSensitivity: 'balanced',
  ignorePhrases: [],
  hangupAfterMs: 60_000,
  maxDurationMs: 600_000,
  reconnectWindowMs: 15_000,
};

/** Feeds events through the machine, its own timers included, and notes each command with its time. */
class Script {
  #state: TurnState;
  #timers = new Map<string, number>();
  #nowMs = 0;
  readonly commands: (TurnCommand & { atMs: number })[] = [];

  constructor(settings: Partial<TurnSettings> = {}) {
    this.#state = initialTurnState({ ...SETTINGS, ...settings });
    this.send(0, { type: 'caller.joined' });
  }

  get state(): TurnState {
    return this.#state;
  }

  send(atMs: number, event: DistributiveOmit<TurnEvent, 'atMs'>): this {
    this.until(atMs);
    this.#feed({ ...event, atMs } as TurnEvent);
    return this;
  }

  /** Lets time pass; due timers fire in order. */
  until(atMs: number): this {
    for (;;) {
      const due = [...this.#timers].filter(([, at]) => at <= atMs).sort((a, b) => a[1] - b[1])[0];
      if (!due) break;
      this.#timers.delete(due[0]);
      this.#feed({ type: 'timer', timer: due[0], atMs: Math.max(due[1], this.#nowMs) } as TurnEvent);
    }
    this.#nowMs = atMs;
    return this;
  }

  says(fromMs: number, toMs: number, utterance: number, text: string): this {
    return this.send(fromMs + 60, { type: 'speech.started', utterance, onsetMs: fromMs })
      .send(toMs + 250, { type: 'speech.ended', utterance, lastSpeechMs: toMs })
      .send(toMs + 280, { type: 'transcript', utterance, text, isFinal: true });
  }

  of<T extends TurnCommand['type']>(type: T): (Extract<TurnCommand, { type: T }> & { atMs: number })[] {
    return this.commands.filter((c) => c.type === type) as (Extract<TurnCommand, { type: T }> & {
      atMs: number;
    })[];
  }

  #feed(event: TurnEvent): void {
    this.#nowMs = event.atMs;
    const { state, commands } = reduce(this.#state, event);
    this.#state = state;
    for (const command of commands) {
      this.commands.push({ ...command, atMs: event.atMs } as TurnCommand & { atMs: number });
      if (command.type === 'timer.set') this.#timers.set(command.timer, command.atMs);
      if (command.type === 'timer.clear') this.#timers.delete(command.timer);
      if (command.type === 'end') this.#timers.clear();
    }
  }
}
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

describe('end of turn', () => {
  test('a turn is committed response_wait_ms after the last speech, with its whole text', () => {
    const call = new Script().says(1_000, 2_000, 1, 'what time do you open').until(5_000);

    expect(call.of('commit').map((c) => [c.text, c.turn, c.atMs])).toEqual([
      ['what time do you open', 1, 2_550],
    ]);
    expect(call.of('reply').map((c) => [c.epoch, c.turn, c.trigger])).toEqual([[1, 1, 'caller']]);
  });

  test('speech that goes on within the wait belongs to the same turn', () => {
    const call = new Script()
      .says(1_000, 2_000, 1, 'i would like')
      .says(2_400, 3_000, 2, 'a table please')
      .until(6_000);

    expect(call.of('commit').map((c) => c.text)).toEqual(['i would like a table please']);
  });

  test('a text that ends in a conjunction waits longer', () => {
    const call = new Script().says(1_000, 2_000, 1, 'i want soup and').until(6_000);

    expect(call.of('commit')[0]?.atMs).toBe(2_000 + 550 + 600);
  });

  test('response_max_wait_ms bounds the wait', () => {
    const call = new Script({ responseMaxWaitMs: 700 }).says(1_000, 2_000, 1, 'i want soup and').until(6_000);

    expect(call.of('commit')[0]?.atMs).toBe(2_700);
  });

  test('a turn waits for its final text, and then commits at once', () => {
    const call = new Script()
      .send(1_060, { type: 'speech.started', utterance: 1, onsetMs: 1_000 })
      .send(2_250, { type: 'speech.ended', utterance: 1, lastSpeechMs: 2_000 })
      .send(2_900, { type: 'transcript', utterance: 1, text: 'hello there', isFinal: true })
      .until(6_000);

    expect(call.of('commit').map((c) => [c.text, c.atMs])).toEqual([['hello there', 2_900]]);
  });

  test('a final text that never comes leaves the partial text to stand', () => {
    const call = new Script()
      .send(1_060, { type: 'speech.started', utterance: 1, onsetMs: 1_000 })
      .send(1_500, { type: 'transcript', utterance: 1, text: 'hello', isFinal: false })
      .send(2_250, { type: 'speech.ended', utterance: 1, lastSpeechMs: 2_000 })
      .until(8_000);

    expect(call.of('commit').map((c) => [c.text, c.atMs])).toEqual([['hello', 5_050]]);
  });

  test('a noise without words is no turn and starts no reply', () => {
    const call = new Script().says(1_000, 1_300, 1, '').until(5_000);

    expect(call.of('commit')).toEqual([]);
    expect(call.of('reply')).toEqual([]);
    expect(call.of('discard').map((c) => c.utterances)).toEqual([[1]]);
  });
});

/** A call in which the agent is speaking its first reply from 3000 on. */
function speaking(settings: Partial<TurnSettings> = {}): Script {
  return new Script(settings)
    .says(1_000, 2_000, 1, 'tell me a story')
    .send(3_000, { type: 'playout.started', epoch: 1 });
}

describe('barge-in', () => {
  test('speech over the agent pauses it at once', () => {
    const call = speaking().send(4_000, { type: 'speech.started', utterance: 2, onsetMs: 3_940 });

    expect(call.of('pause').map((c) => [c.epoch, c.atMs])).toEqual([[1, 4_000]]);
    expect(call.of('cancel')).toEqual([]);
  });

  test('words over the agent cancel the reply and become the next turn', () => {
    const call = speaking().says(4_000, 5_000, 2, 'wait what about friday').until(8_000);

    expect(call.of('cancel').map((c) => c.epoch)).toEqual([1]);
    expect(call.of('commit').at(-1)).toMatchObject({ text: 'wait what about friday', turn: 2, atMs: 5_550 });
    expect(call.of('reply').at(-1)).toMatchObject({ epoch: 2, turn: 2 });
  });

  test('a partial transcript with words is enough to cancel', () => {
    const call = speaking()
      .send(4_060, { type: 'speech.started', utterance: 2, onsetMs: 4_000 })
      .send(4_400, { type: 'transcript', utterance: 2, text: 'stop please', isFinal: false });

    expect(call.of('cancel').map((c) => c.atMs)).toEqual([4_400]);
  });

  test('a backchannel resumes the reply and is no turn', () => {
    const call = speaking().says(4_000, 4_300, 2, 'Uh-huh, okay.').until(8_000);

    expect(call.of('resume').map((c) => [c.epoch, c.atMs, c.why])).toEqual([[1, 4_580, 'backchannel']]);
    expect(call.of('cancel')).toEqual([]);
    expect(call.of('commit')).toHaveLength(1);
  });

  test('a phrase of the ignore list resumes the reply', () => {
    const call = speaking({ ignorePhrases: ['go ahead'] })
      .says(4_000, 4_300, 2, 'go ahead')
      .until(8_000);

    expect(call.of('resume')).toHaveLength(1);
  });

  test('a cough resumes the reply as soon as the recogniser says that nothing was said', () => {
    const call = speaking().says(4_000, 4_200, 2, '').until(8_000);

    expect(call.of('resume').map((c) => c.atMs)).toEqual([4_480]);
  });

  test('a recogniser that says nothing at all resumes the reply after 1.5 s', () => {
    const call = speaking()
      .send(4_060, { type: 'speech.started', utterance: 2, onsetMs: 4_000 })
      .send(4_500, { type: 'speech.ended', utterance: 2, lastSpeechMs: 4_250 })
      .until(8_000);

    expect(call.of('resume').map((c) => c.atMs)).toEqual([6_000]);
  });

  test('a cough before the agent is audible does not lose the reply', () => {
    const call = new Script().says(1_000, 2_000, 1, 'tell me a story').says(2_600, 2_700, 2, '').until(8_000);

    expect(call.of('cancel')).toEqual([]);
    expect(call.of('resume')).toHaveLength(1);
  });

  test('low sensitivity needs three words', () => {
    const two = speaking({ interruptionSensitivity: 'low' }).says(4_000, 4_500, 2, 'hold on').until(8_000);
    const three = speaking({ interruptionSensitivity: 'low' })
      .says(4_000, 4_500, 2, 'hold on please')
      .until(8_000);

    expect(two.of('cancel')).toEqual([]);
    expect(three.of('cancel')).toHaveLength(1);
  });

  test('an agent that may not be interrupted answers when it has finished', () => {
    const call = speaking({ isInterruptible: false })
      .says(4_000, 5_000, 2, 'what about friday')
      .send(9_000, { type: 'playout.finished', epoch: 1 })
      .until(10_000);

    expect(call.of('pause')).toEqual([]);
    expect(call.of('commit').at(-1)).toMatchObject({ text: 'what about friday', atMs: 9_000 });
  });

  test('what an older reply reports is stale', () => {
    const call = speaking().says(4_000, 5_000, 2, 'wait what about friday').until(6_000);
    const before = call.commands.length;

    call.send(6_100, { type: 'playout.finished', epoch: 1 });

    expect(call.commands).toHaveLength(before);
  });
});

describe('the call as a whole', () => {
  test('a greeting is the first reply', () => {
    expect(new Script({ hasGreeting: true }).of('reply')).toMatchObject([{ trigger: 'greeting', epoch: 1 }]);
  });

  test('the longest duration ends the call as a timeout', () => {
    const call = new Script({ maxDurationMs: 5_000, hangupAfterMs: 60_000 }).until(10_000);

    expect(call.of('end')).toMatchObject([
      { status: 'completed', endReason: 'conversation_timeout', atMs: 5_000 },
    ]);
  });

  test('a call in which nobody speaks is hung up by the agent', () => {
    expect(new Script({ hangupAfterMs: 10_000 }).until(60_000).of('end')).toMatchObject([
      { endReason: 'agent_hangup', atMs: 10_000 },
    ]);
  });

  test('a transport that does not come back ends the call as a heartbeat timeout', () => {
    const call = speaking().send(4_000, { type: 'caller.lost' }).until(60_000);

    expect(call.of('end')).toMatchObject([
      { status: 'completed', endReason: 'heartbeat_timeout', atMs: 19_000 },
    ]);
  });

  test('a transport that comes back goes on where it was', () => {
    const call = speaking()
      .send(4_000, { type: 'caller.lost' })
      .send(9_000, { type: 'caller.back' })
      .until(30_000);

    expect(call.of('pause')).toHaveLength(1);
    expect(call.of('resume').map((c) => c.atMs)).toEqual([9_000]);
    expect(call.of('end')).toEqual([]);
  });

  test('words said when the caller hangs up are kept', () => {
    const call = new Script()
      .send(1_060, { type: 'speech.started', utterance: 1, onsetMs: 1_000 })
      .send(1_500, { type: 'transcript', utterance: 1, text: 'thanks bye', isFinal: false })
      .send(1_600, { type: 'caller.left' });

    expect(call.of('commit')).toMatchObject([{ text: 'thanks bye' }]);
    expect(call.of('end')).toMatchObject([{ status: 'completed', endReason: 'user_hangup' }]);
  });

  test('an agent that hangs up is heard to its end first', () => {
    const call = speaking().send(3_100, { type: 'reply.hangs_up', epoch: 1 });
    expect(call.of('end')).toEqual([]);

    call.send(5_000, { type: 'playout.finished', epoch: 1 });

    expect(call.of('end')).toMatchObject([{ endReason: 'agent_hangup' }]);
  });

  test('a typed message takes the turn at once', () => {
    const call = speaking().send(4_000, {
      type: 'client.message',
      text: 'by mail please',
      wantsAudio: false,
    });

    expect(call.of('cancel')).toHaveLength(1);
    expect(call.of('reply').at(-1)).toMatchObject({ epoch: 2, wantsAudio: false });
  });

  test('nothing happens after the end', () => {
    const call = speaking().send(4_000, { type: 'client.hangup' });
    const before = call.commands.length;

    call.says(5_000, 6_000, 9, 'hello').until(20_000);

    expect(call.commands).toHaveLength(before);
  });
});

test('any order of events keeps the invariants: epochs and turns count up without gaps, and the end is the last word', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  for (let run = 0; run < 300; run++) {
    const call = new Script();
    let atMs = 10;
    let utterance = 0;
    for (let i = 0; i < 40; i++) {
      atMs += random(900);
      const epoch = Math.max(1, call.state.epoch - random(2));
      const events: DistributiveOmit<TurnEvent, 'atMs'>[] = [
        { type: 'speech.started', utterance: utterance + 1, onsetMs: atMs - 60 },
        { type: 'speech.ended', utterance, lastSpeechMs: atMs - 250 },
        {
          type: 'transcript',
          utterance,
          text: ['', 'uh huh', 'tell me more'][random(3)] ?? '',
          isFinal: random(2) === 0,
        },
        { type: 'playout.started', epoch },
        { type: 'playout.finished', epoch },
        { type: 'client.interrupt' },
        { type: 'caller.lost' },
        { type: 'caller.back' },
      ];
      const event = events[random(events.length)];
      if (!event) continue;
      if (event.type === 'speech.started') utterance++;
      call.send(atMs, event);
    }
    call.send(atMs + 100_000, { type: 'client.hangup' });

    expect(call.of('reply').map((c) => c.epoch)).toEqual(call.of('reply').map((_, i) => i + 1));
    expect(call.of('commit').map((c) => c.turn)).toEqual(call.of('commit').map((_, i) => i + 1));
    expect(call.of('end')).toHaveLength(1);
    expect(call.commands.at(-1)?.type).toBe('end');
  }
});
