import { toIso } from '../../shared/time.ts';
import type { AnalysisNotice, NoticedSession, WebhookNotice } from './webhook-event.ts';

/** Agents have one line of versions. */
const BRANCH_ID = 'main';

/** The request body of an event: JSON text, the same for every endpoint and every attempt. Transcripts are not in it. */
export function webhookBody(session: NoticedSession, notice: WebhookNotice): string {
  return JSON.stringify({
    event: notice.event,
    session: sessionPart(session, notice),
    ...eventPart(notice),
  });
}

function sessionPart(session: NoticedSession, notice: WebhookNotice) {
  return {
    id: session._id,
    agent_id: session.agentId,
    branch_id: BRANCH_ID,
    source: session.source,
    status: notice.status,
    conversation_started_at: isoOrNull(notice.startedAtMs),
    conversation_ended_at: isoOrNull(notice.endedAtMs),
    duration_seconds: notice.durationS,
    end_user_id: session.endUserId ?? '',
    // Made from a checked object when the session was created.
    metadata: JSON.parse(session.metadataJson) as Record<string, unknown>,
    agent_name: session.agentName,
    config_hash: session.configHash,
    // A replica of an older version may still write records without it.
    direction: session.direction ?? 'inbound',
    ...dialPart(notice),
    batch_call_id: null,
  };
}

function eventPart(notice: WebhookNotice) {
  switch (notice.event) {
    case 'phone_call.dial_finished':
      return dialPart(notice);
    case 'call.ended':
      return { ended_reason: notice.endedReason };
    case 'call.analyzed':
      return { analysis: notice.analysis && analysisPart(notice.analysis) };
  }
}

/** Who or what answered isn't found out. */
function dialPart({ dialStatus }: WebhookNotice) {
  return { dial_status: dialStatus, answered_by: dialStatus === 'answered' ? 'unknown' : null };
}

function analysisPart(analysis: AnalysisNotice) {
  return {
    status: analysis.status,
    summary: analysis.summary,
    data: analysis.data,
    criteria_results: analysis.criteriaResults,
    error: analysis.error,
    finished_at: toIso(analysis.finishedAtMs),
  };
}

function isoOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : toIso(epochMs);
}
