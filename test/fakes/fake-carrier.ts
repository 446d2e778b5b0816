import type {
  AvailableNumber,
  Carrier,
  CarrierEvent,
  DialSpec,
  NumberSearch,
  PhoneProvider,
} from '../../control-plane/phone/carrier.ts';

type Operation = 'search' | 'buy' | 'release' | 'dial' | 'hangUp';

/** A carrier that remembers what it was asked, fails as told, and tells of calls what the test tells it to. */
export class FakeCarrier implements Carrier {
  readonly name = 'Fake carrier';
  dialsFrom: readonly PhoneProvider[] = ['twilio', 'sip'];
  available: AvailableNumber[] = [];
  readonly searches: NumberSearch[] = [];
  readonly bought: string[] = [];
  readonly released: string[] = [];
  readonly dialled: DialSpec[] = [];
  readonly hungUp: string[] = [];
  /** What an operation throws; a promise instead keeps it waiting. */
  readonly failures = new Map<Operation, Error | Promise<void>>();
  #listener: (event: CarrierEvent) => void = () => {};
  #held = new Set<string>();

  async searchNumbers(search: NumberSearch): Promise<readonly AvailableNumber[]> {
    this.searches.push(search);
    await this.#meet('search');
    return this.available;
  }

  async buyNumber(phoneNumber: string): Promise<void> {
    await this.#meet('buy');
    this.bought.push(phoneNumber);
  }

  async releaseNumber(phoneNumber: string): Promise<void> {
    await this.#meet('release');
    this.released.push(phoneNumber);
  }

  async dial(spec: DialSpec): Promise<void> {
    await this.#meet('dial');
    this.dialled.push(spec);
    this.#held.add(spec.callId);
  }

  async hangUp(callId: string): Promise<void> {
    await this.#meet('hangUp');
    this.hungUp.push(callId);
    this.#held.delete(callId);
  }

  async #meet(operation: Operation): Promise<void> {
    const failure = this.failures.get(operation);
    if (failure instanceof Error) throw failure;
    await failure;
  }

  heldCalls(): readonly string[] {
    return [...this.#held];
  }

  listen(listener: (event: CarrierEvent) => void): void {
    this.#listener = listener;
  }

  tell(event: CarrierEvent): void {
    if (event.type === 'ended') this.#held.delete(event.callId);
    this.#listener(event);
  }

  close(): void {
    this.#listener = () => {};
  }
}
