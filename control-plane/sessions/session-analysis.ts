import { Failure } from '../../shared/errors.ts';
import type { Clock } from '../../shared/time.ts';
import type { Store } from '../storage/collection.ts';
import {
  addToOutbox,
  analyzedNotice,
  hasWebhooks,
  queuedAnalysis,
  type SettledAnalysis,
} from './session-notices.ts';
import type { SessionDoc } from './session-store.ts';

/** Runs of one session's analysis, the ones asked for by hand included. */
const MAX_RUNS = 20;

/** One run of a session's analysis. */
export interface AnalysisRun {
  readonly sessionId: string;
  readonly run: number;
}

export interface ClaimedAnalysis extends AnalysisRun {
  readonly agentId: string;
  readonly agentVersion: number | null;
  /** 1 unless the run was begun before and its process died. */
  readonly tries: number;
}

/** Post-call analyses in the session records. */
export function createSessionAnalyses(deps: {
  readonly store: Store;
  readonly clock: Clock;
  /** An event was written. */
  readonly onNotice: () => void;
  /** An analysis waits. */
  readonly onQueued: () => void;
}) {
  const { clock } = deps;
  const sessions = deps.store.collection<SessionDoc>('sessions');

  /** The run that is due longest, held until `untilMs`; null when none is due. */
  async function claim(nowMs: number, untilMs: number): Promise<ClaimedAnalysis | null> {
    const session = await sessions.findOneAndUpdate(
      { analysisDueAtMs: { $lte: nowMs } },
      { $set: { 'analysis.status': 'running', analysisDueAtMs: untilMs }, $inc: { 'analysis.tries': 1 } },
      { sort: { analysisDueAtMs: 1 } },
    );
    if (!session?.analysis) return null;
    const { run, tries } = session.analysis;
    return {
      sessionId: session._id,
      run,
      tries,
      agentId: session.agentId,
      agentVersion: session.agentVersion,
    };
  }

  const renew = ({ sessionId, run }: AnalysisRun, untilMs: number) =>
    sessions.updateOne(
      { _id: sessionId, 'analysis.run': run, 'analysis.status': 'running' },
      { $set: { analysisDueAtMs: untilMs } },
    );

  /** Ends a run; its result and `call.analyzed` are one write. A run that is over already stays as it was. */
  async function settleAnalysis({ sessionId, run }: AnalysisRun, settled: SettledAnalysis): Promise<void> {
    const session = await sessions.findOne({ _id: sessionId });
    if (!session?.analysis) return;
    const nowMs = clock.nowMs();
    const { tries, finishedAtMs: lastMs } = session.analysis;
    const finishedAtMs = Math.max(nowMs, (lastMs ?? 0) + 1);
    const notice = analyzedNotice(session, run, { ...settled, finishedAtMs }, nowMs);
    const { $set, ...push } = addToOutbox(hasWebhooks(session) ? [notice] : [], nowMs);
    const matched = await sessions.updateOne(
      { _id: sessionId, 'analysis.run': run, 'analysis.status': { $in: ['queued', 'running'] } },
      {
        $set: { ...$set, analysis: { ...settled, run, tries, finishedAtMs }, analysisDueAtMs: null },
        ...push,
      },
    );
    if (matched === 1) deps.onNotice();
  }

  /** Queues a new run of a skipped or failed analysis. Throws 404, 409. */
  async function rerun(sessionId: string, workspaceId: string): Promise<void> {
    const session = await sessions.findOne({ _id: sessionId, workspaceId });
    if (!session) throw new Failure('not_found', 'Session not found');
    const { analysis = null } = session;
    if (analysis?.status !== 'skipped' && analysis?.status !== 'error') {
      throw new Failure('conflict', 'Only a skipped or failed analysis can be run again');
    }
    if (analysis.run >= MAX_RUNS) throw new Failure('conflict', 'Analysis was run too often');
    const matched = await sessions.updateOne(
      { _id: sessionId, 'analysis.run': analysis.run, 'analysis.status': analysis.status },
      {
        $set: {
          analysis: queuedAnalysis(analysis.run + 1, analysis.finishedAtMs),
          analysisDueAtMs: clock.nowMs(),
        },
      },
    );
    if (matched === 0) throw new Failure('conflict', 'Analysis is being run already');
    deps.onQueued();
  }

  const ensureIndexes = () => sessions.createIndex({ analysisDueAtMs: 1 });
  return { claim, renew, settleAnalysis, rerun, ensureIndexes };
}
