import { withDeadline } from '../../shared/time.ts';
import { ControlLink, type ControlLinkDeps } from './control-link.ts';
import type { EventOutbox } from './event-outbox.ts';
import type { ControlAddress } from './link-credentials.ts';

/** How soon a new control-plane replica is dialled. */
const LIST_EVERY_MS = 5_000;
const LIST_DEADLINE_MS = 3_000;
const BEAT_EVERY_MS = 1_000;

export interface ControlLinksDeps extends Omit<ControlLinkDeps, 'onUp' | 'onDown' | 'onAcknowledged'> {
  /** Every control-plane replica there is now. Asked again every 5 s; a failure leaves the list as it was. */
  readonly listAddresses: () => Promise<readonly ControlAddress[]>;
  readonly outbox: EventOutbox;
}

/**
 * The worker's links to all control-plane replicas, so that each of them can place sessions here and end them.
 * Session events go over one of them, the carrier; when it breaks, over another, and nothing is lost or reordered,
 * since whatever was not acknowledged is sent again.
 */
export class ControlLinks {
  readonly #deps: ControlLinksDeps;
  readonly #links = new Map<string, ControlLink>();
  readonly #stopping = new AbortController();
  #carrier: ControlLink | null = null;
  #running: Promise<unknown> | null = null;

  constructor(deps: ControlLinksDeps) {
    this.#deps = deps;
  }

  /** Replicas that can command this worker now. */
  get upCount(): number {
    return [...this.#links.values()].filter((link) => link.isUp).length;
  }

  start(): void {
    this.#running ??= Promise.all([this.#keepListing(), this.#keepBeating()]);
  }

  /** Says goodbye to every replica and leaves what was not acknowledged to the outbox. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#links.values()].map((link) => link.stop()));
    await this.#running;
  }

  async #keepListing(): Promise<void> {
    const { clock, listAddresses, log } = this.#deps;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const addresses = await withDeadline(
          clock,
          'list of control planes',
          LIST_DEADLINE_MS,
          listAddresses(),
        );
        if (!signal.aborted) this.#follow(addresses);
      } catch (cause) {
        log.warn({ err: cause }, 'list of control planes is not available');
      }
      await clock.sleep(LIST_EVERY_MS, signal);
    }
  }

  async #keepBeating(): Promise<void> {
    const { clock, outbox } = this.#deps;
    while (!this.#stopping.signal.aborted) {
      await clock.sleep(BEAT_EVERY_MS, this.#stopping.signal);
      outbox.beat();
    }
  }

  /** Dials what is new. A replica that left the list keeps its link while that works. */
  #follow(addresses: readonly ControlAddress[]): void {
    const wanted = new Set(addresses.map((address) => address.target));
    for (const [target, link] of this.#links) {
      if (wanted.has(target) || link.isUp) continue;
      this.#links.delete(target);
      void link.stop();
    }
    for (const address of addresses) {
      if (this.#links.has(address.target)) continue;
      const link = new ControlLink(address, {
        ...this.#deps,
        onUp: (up) => {
          if (!this.#carrier) this.#carryOver(up);
        },
        onDown: (down) => this.#lost(down),
        onAcknowledged: (sessionId, sequence) => this.#deps.outbox.acknowledge(sessionId, sequence),
      });
      this.#links.set(address.target, link);
      link.start();
    }
  }

  #carryOver(link: ControlLink): void {
    this.#carrier = link;
    this.#deps.outbox.connect((event) => link.send(event));
  }

  #lost(link: ControlLink): void {
    if (link !== this.#carrier) return;
    this.#carrier = null;
    const next = [...this.#links.values()].find((other) => other.isUp);
    if (next) this.#carryOver(next);
    else this.#deps.outbox.disconnect();
  }
}
