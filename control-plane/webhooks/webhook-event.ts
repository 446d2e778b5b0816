/** The events a team's servers are told of, in the order in which a session has them. */
export type WebhookEventName = 'phone_call.dial_finished' | 'call.ended' | 'call.analyzed';

/** Where events go, pinned when the session started. */
export interface WebhookEndpoint {
  readonly url: string;
  /** Signing key in stored (sealed) form; null: requests are not signed. */
  readonly secret: string | null;
}

/** One settled analysis, as `call.analyzed` carries it. */
export interface AnalysisNotice {
  readonly status: 'completed' | 'skipped' | 'error';
  readonly summary: string | null;
  readonly data: readonly {
    readonly name: string;
    readonly type: string;
    readonly value: string | number | boolean | null;
    readonly rationale: string;
  }[];
  readonly criteriaResults: readonly {
    readonly name: string;
    readonly result: string;
    readonly rationale: string;
  }[];
  readonly error: string | null;
  readonly finishedAtMs: number;
}

/** An event with the session as it was then. */
export interface WebhookNotice {
  /** Counts up within the session; the same event always has the same number. */
  readonly seq: number;
  readonly event: WebhookEventName;
  readonly atMs: number;
  readonly status: string;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly durationS: number | null;
  readonly dialStatus: string | null;
  readonly endedReason: 'hangup' | 'error' | null;
  readonly analysis: AnalysisNotice | null;
}

/** What every payload says of a session and never changes. */
export interface NoticedSession {
  readonly _id: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly configHash: string;
  readonly source: string;
  readonly direction: 'inbound' | 'outbound';
  readonly endUserId: string | null;
  readonly metadataJson: string;
}
