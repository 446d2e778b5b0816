import { Failure } from '../../shared/errors.ts';
import type { Clock } from '../../shared/time.ts';

/** Whose request it is, as the control plane says. */
export interface SpeechCaller {
  readonly workspaceId: string;
  readonly userId: string;
  readonly keyId: string;
  /** Nothing is left to pay with. */
  readonly isOutOfCredit: boolean;
}

export interface SpeechAdmissionDeps {
  /** Throws `Failure`: `invalid_token` with a readable message, or `unavailable`. */
  readonly authenticate: (apiKey: string) => Promise<SpeechCaller>;
  /** Requests of one workspace at once, on this worker. */
  readonly maxInFlight: number;
  readonly clock: Clock;
}

/** A place among the workspace's requests in flight. */
export interface SpeechSlot {
  /** Gives the place back. Safe to call twice. */
  release(): void;
}

/** A revoked key may still work for this long. */
const CACHE_MS = 1_000;
/** When full, the entry that was made first goes. */
const CACHE_ENTRIES = 10_000;
const RETRY_AFTER_S = 1;

/** Who may speak, and how much at once. */
export class SpeechAdmission {
  readonly #deps: SpeechAdmissionDeps;
  readonly #known = new Map<
    string,
    { readonly caller: Promise<SpeechCaller>; readonly freshUntilMs: number }
  >();
  readonly #inFlight = new Map<string, number>();

  constructor(deps: SpeechAdmissionDeps) {
    this.#deps = deps;
  }

  /** Requests in flight of all workspaces. */
  get inFlight(): number {
    return [...this.#inFlight.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Whose key it is; good answers are kept for a second. Throws `Failure` `invalid_token` or `unavailable`. */
  identify(apiKey: string): Promise<SpeechCaller> {
    const { clock, authenticate } = this.#deps;
    const cached = this.#known.get(apiKey);
    if (cached && clock.monotonicMs() < cached.freshUntilMs) return cached.caller;
    const caller = authenticate(apiKey);
    const entry = { caller, freshUntilMs: clock.monotonicMs() + CACHE_MS };
    this.#known.delete(apiKey);
    this.#known.set(apiKey, entry);
    caller.catch(() => {
      if (this.#known.get(apiKey) === entry) this.#known.delete(apiKey);
    });
    const [oldest] = this.#known.keys();
    if (this.#known.size > CACHE_ENTRIES && oldest !== undefined) this.#known.delete(oldest);
    return caller;
  }

  /** Throws `Failure`: 402 without credit, unless the request is free; 429 when too many are in flight. */
  enter(caller: SpeechCaller, isFree: boolean): SpeechSlot {
    if (caller.isOutOfCredit && !isFree) throw new Failure('out_of_credit', 'Out of API credit');
    const { workspaceId } = caller;
    const count = this.#inFlight.get(workspaceId) ?? 0;
    if (count >= this.#deps.maxInFlight) {
      throw new Failure('rate_limited', `At most ${this.#deps.maxInFlight} requests may be in flight`, {
        retryAfterS: RETRY_AFTER_S,
      });
    }
    this.#inFlight.set(workspaceId, count + 1);
    let isReleased = false;
    return {
      release: () => {
        if (isReleased) return;
        isReleased = true;
        const left = (this.#inFlight.get(workspaceId) ?? 1) - 1;
        if (left > 0) this.#inFlight.set(workspaceId, left);
        else this.#inFlight.delete(workspaceId);
      },
    };
  }
}
