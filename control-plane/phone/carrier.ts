/** Where a number comes from: bought at the carrier, or brought along on the team's own SIP trunk. */
export type PhoneProvider = 'twilio' | 'sip';

export interface NumberSearch {
  readonly countryCode: 'US' | 'CA';
  readonly areaCode: string | null;
  /** At most this many are answered. */
  readonly limit: number;
}

export interface AvailableNumber {
  /** E.164. */
  readonly phoneNumber: string;
  readonly friendlyName: string;
  readonly locality: string;
  readonly region: string;
  readonly countryCode: string;
}

/** Where calls of an imported number leave. */
export interface DialTrunk {
  /** Host, or host and port. */
  readonly host: string;
  readonly transport: 'auto' | 'udp' | 'tcp' | 'tls';
  readonly username: string | null;
  readonly password: string | null;
}

export interface DialSpec {
  /** Names the call in events and to `hangUp`. Never used for two calls. */
  readonly callId: string;
  /** E.164, both. */
  readonly to: string;
  readonly from: string;
  /** Unanswered for longer, the call ends with `no_answer`. */
  readonly ringTimeoutS: number;
  /** From the answer on; then the carrier hangs up. */
  readonly maxDurationS: number;
  readonly provider: PhoneProvider;
  /** Null for a number that was bought at the carrier. */
  readonly trunk: DialTrunk | null;
  /** SIP headers of the invitation, by name. */
  readonly headers: Readonly<Record<string, string>>;
}

export type DialOutcome = 'answered' | 'busy' | 'no_answer' | 'failed';

/** What became of a call. Times are wall clock, ms since 1970. */
export type CarrierEvent =
  | { readonly type: 'answered'; readonly callId: string; readonly atMs: number }
  /** The call is over; `answered` when there was a conversation. */
  | { readonly type: 'ended'; readonly callId: string; readonly outcome: DialOutcome; readonly atMs: number };

/** The carrier said no, and nothing has happened. Its message is shown to the caller. */
export class CarrierRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'CarrierRefused';
  }
}

/** The request never reached the carrier: nothing has happened and trying again is safe. */
export class CarrierUnreachable extends Error {
  constructor(cause?: unknown) {
    super('the carrier could not be reached', { cause });
    this.name = 'CarrierUnreachable';
  }
}

/**
 * Port: a telephony provider. Every operation may throw `CarrierRefused` or `CarrierUnreachable`; after any other error
 * it isn't known whether the request took effect, and it must not simply be sent again.
 */
export interface Carrier {
  /** Shown to callers in `<name> refused the request: …`. */
  readonly name: string;
  /** Kinds of numbers it can call from. */
  readonly dialsFrom: readonly PhoneProvider[];
  /** Numbers that can be bought now. */
  searchNumbers(search: NumberSearch): Promise<readonly AvailableNumber[]>;
  /** The number is ours when this resolves. A number is sold once. */
  buyNumber(phoneNumber: string): Promise<void>;
  /** The number isn't ours any more when this resolves; one that never was is no error. */
  releaseNumber(phoneNumber: string): Promise<void>;
  /** Resolves when the carrier has taken the call on; events tell the rest, possibly before this resolves. */
  dial(spec: DialSpec): Promise<void>;
  /** The call is over, or will be in a moment; one that is over or never was is no error. */
  hangUp(callId: string): Promise<void>;
  /** Calls that are up or ringing and are followed by this process. */
  heldCalls(): readonly string[];
  /** The one listener gets the events of a call at least once and in order, `ended` last. */
  listen(listener: (event: CarrierEvent) => void): void;
  /** Ends what the carrier follows. No events come afterwards. */
  close(): void;
}
