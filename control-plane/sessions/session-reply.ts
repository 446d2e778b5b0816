import { sortTimeline, type TimelineItem } from '../../shared/session-timeline.ts';
import { toIso } from '../../shared/time.ts';
import type { SessionAnalysis } from './session-notices.ts';
import type { AnalysisDetail, SessionDetail, SessionSummary } from './session-schema.ts';
import type { SessionDoc } from './session-store.ts';

export function toSessionSummary(session: SessionDoc): SessionSummary {
  return {
    session_id: session._id,
    agent_id: session.agentId,
    agent_name: session.agentName,
    name: session.name,
    status: session.status,
    end_reason: session.endReason,
    source: session.source,
    // A replica of an older version may still write records without it.
    direction: session.direction ?? 'inbound',
    dial_status: session.dialStatus ?? null,
    // Who or what answered isn't found out.
    answered_by: session.dialStatus === 'answered' ? 'unknown' : null,
    caller_number: session.callerNumber,
    dialed_number: session.dialedNumber,
    timezone: session.timezone,
    created_at: toIso(session.createdAtMs),
    started_at: isoOrNull(session.startedAtMs),
    ended_at: isoOrNull(session.endedAtMs),
    duration_seconds: session.durationS,
    // Made from a checked object when the session was created.
    metadata: JSON.parse(session.metadataJson) as Record<string, unknown>,
  };
}

export function toSessionDetail(session: SessionDoc, items: readonly TimelineItem[]): SessionDetail {
  return {
    ...toSessionSummary(session),
    unattributed_llm_usage: [],
    items: sortTimeline(items),
    analysis: session.analysis ? toAnalysis(session.analysis) : null,
  };
}

function toAnalysis(analysis: SessionAnalysis): AnalysisDetail {
  return {
    status: analysis.status,
    summary: analysis.summary,
    data: [...analysis.data],
    criteria_results: [...analysis.criteriaResults],
    error: analysis.error,
    finished_at:
      analysis.status === 'queued' || analysis.status === 'running' ? null : isoOrNull(analysis.finishedAtMs),
  };
}

function isoOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : toIso(epochMs);
}
