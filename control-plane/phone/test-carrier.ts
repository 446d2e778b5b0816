import type { Clock } from '../../shared/time.ts';
import {
  type AvailableNumber,
  type Carrier,
  type CarrierEvent,
  CarrierRefused,
  type DialOutcome,
  type DialSpec,
  type NumberSearch,
  type PhoneProvider,
} from './carrier.ts';

/** Time from dialling until the outcome is known, except that nobody answers only when the ringing ends. */
const RING_MS = 200;
/** After the answer the called person says nothing and hangs up. */
const CONVERSATION_MS = 10_000;
/** 555-0100 to 555-0199 are kept free for fiction. */
const FIRST_LINE = 100;
const LINES = 100;
const AREA_CODES = { US: '415', CA: '416' } as const;

/** Last four digits of a dialled number that decide what becomes of the call. Any other number answers. */
const OUTCOMES: Readonly<Record<string, Exclude<DialOutcome, 'answered'>>> = {
  '0101': 'busy',
  '0102': 'no_answer',
  '0103': 'failed',
};
const DIAL_REFUSED = '0104';
const PURCHASE_REFUSED = '0113';
/** Its release is refused once; the next try succeeds. */
const RELEASE_REFUSED_ONCE = '0117';

interface TestCall {
  readonly spec: DialSpec;
  readonly ending: AbortController;
  isAnswered: boolean;
}

/**
 * A carrier without a telephone network, for development and tests. It sells the same made-up numbers every time, and
 * the last digits of a number decide what happens to it. What it has sold is forgotten when the process ends.
 */
export class TestCarrier implements Carrier {
  readonly name = 'Test carrier';
  readonly dialsFrom: readonly PhoneProvider[] = ['twilio', 'sip'];
  readonly #clock: Clock;
  readonly #sold = new Set<string>();
  readonly #refusedReleases = new Set<string>();
  readonly #calls = new Map<string, TestCall>();
  #listener: (event: CarrierEvent) => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async searchNumbers({ countryCode, areaCode, limit }: NumberSearch): Promise<readonly AvailableNumber[]> {
    const area = areaCode ?? AREA_CODES[countryCode];
    const numbers = Array.from({ length: LINES }, (_, i) => `+1${area}5550${FIRST_LINE + i}`);
    return numbers
      .filter((number) => !this.#sold.has(number))
      .slice(0, limit)
      .map((phoneNumber) => ({
        phoneNumber,
        friendlyName: `(${area}) 555-${phoneNumber.slice(-4)}`,
        locality: 'Testville',
        region: countryCode === 'US' ? 'CA' : 'ON',
        countryCode,
      }));
  }

  async buyNumber(phoneNumber: string): Promise<void> {
    if (phoneNumber.endsWith(PURCHASE_REFUSED) || this.#sold.has(phoneNumber)) {
      throw new CarrierRefused('the number is no longer available');
    }
    this.#sold.add(phoneNumber);
  }

  async releaseNumber(phoneNumber: string): Promise<void> {
    if (phoneNumber.endsWith(RELEASE_REFUSED_ONCE) && !this.#refusedReleases.has(phoneNumber)) {
      this.#refusedReleases.add(phoneNumber);
      throw new CarrierRefused('the number is busy');
    }
    this.#sold.delete(phoneNumber);
  }

  async dial(spec: DialSpec): Promise<void> {
    if (spec.to.endsWith(DIAL_REFUSED)) throw new CarrierRefused('the destination is out of service');
    const call: TestCall = { spec, ending: new AbortController(), isAnswered: false };
    this.#calls.set(spec.callId, call);
    // The life of a call ends by itself or by `hangUp`, and throws nothing.
    void this.#run(call);
  }

  async #run(call: TestCall): Promise<void> {
    const { callId, to, ringTimeoutS, maxDurationS } = call.spec;
    const { signal } = call.ending;
    const outcome = OUTCOMES[to.slice(-4)] ?? 'answered';
    await this.#clock.sleep(outcome === 'no_answer' ? ringTimeoutS * 1000 : RING_MS, signal);
    if (signal.aborted) return;
    if (outcome !== 'answered') return this.#end(call, outcome);
    call.isAnswered = true;
    this.#listener({ type: 'answered', callId, atMs: this.#clock.nowMs() });
    await this.#clock.sleep(Math.min(CONVERSATION_MS, maxDurationS * 1000), signal);
    if (!signal.aborted) this.#end(call, 'answered');
  }

  #end(call: TestCall, outcome: DialOutcome): void {
    const { callId } = call.spec;
    this.#calls.delete(callId);
    this.#listener({ type: 'ended', callId, outcome, atMs: this.#clock.nowMs() });
  }

  async hangUp(callId: string): Promise<void> {
    const call = this.#calls.get(callId);
    if (!call) return;
    call.ending.abort();
    this.#end(call, call.isAnswered ? 'answered' : 'no_answer');
  }

  heldCalls(): readonly string[] {
    return [...this.#calls.keys()];
  }

  listen(listener: (event: CarrierEvent) => void): void {
    this.#listener = listener;
  }

  close(): void {
    this.#listener = () => {};
    for (const call of this.#calls.values()) call.ending.abort();
    this.#calls.clear();
  }
}
