import type { AgentConfig } from '../../shared/agent-config.ts';
import type { Logger } from '../../shared/log.ts';
import type { TimelineItem } from '../../shared/session-timeline.ts';
import type { Clock } from '../../shared/time.ts';
import { WorkLoop } from '../../shared/work-loop.ts';
import type { Analyser } from './analyser.ts';
import { type AnalysisResult, failedAnalysis, SKIPPED } from './analysis-result.ts';

/** Renewed while a run goes on. A run of a process that died is taken up after as long. */
const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 5_000;
const REST_MS = 1_000;
const MAX_AT_ONCE = 8;
/** A conversation that took this many processes down with it is given up. */
const MAX_TRIES = 5;

/** A run of a session's analysis, held by this process. */
export interface ClaimedRun {
  readonly sessionId: string;
  readonly run: number;
  readonly agentId: string;
  readonly agentVersion: number | null;
  readonly tries: number;
}

export interface AnalysisRunnerDeps {
  readonly claim: (nowMs: number, untilMs: number) => Promise<ClaimedRun | null>;
  /** Holds a run for longer. */
  readonly renew: (run: ClaimedRun, untilMs: number) => Promise<unknown>;
  readonly settle: (run: ClaimedRun, result: AnalysisResult) => Promise<void>;
  /** Null when the agent is gone. */
  readonly pinnedConfig: (agentId: string, version: number) => Promise<AgentConfig | null>;
  readonly listItems: (sessionId: string) => Promise<readonly TimelineItem[]>;
  readonly analyser: Analyser;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Runs the analyses that wait. Any number of processes may run one. */
export function createAnalysisRunner(deps: AnalysisRunnerDeps) {
  const { clock, log } = deps;

  const loop = new WorkLoop<ClaimedRun>(
    { name: 'analyses', claim, run, maxAtOnce: MAX_AT_ONCE, restMs: REST_MS },
    { clock, log },
  );

  function claim(): Promise<ClaimedRun | null> {
    const nowMs = clock.nowMs();
    return deps.claim(nowMs, nowMs + LEASE_MS);
  }

  /** A process that stops leaves its runs to be begun again. */
  async function run(claimed: ClaimedRun, stopping: AbortSignal): Promise<void> {
    const done = new AbortController();
    const holding = hold(claimed, done.signal);
    const result = await resultOf(claimed, stopping)
      .catch((error: unknown) => {
        if (stopping.aborted) return null;
        throw error;
      })
      .finally(() => done.abort());
    await holding;
    if (!result) return;
    await deps.settle(claimed, result);
    log.info(
      { sessionId: claimed.sessionId, status: result.status, error: result.error },
      'analysis settled',
    );
  }

  async function hold(claimed: ClaimedRun, done: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(RENEW_EVERY_MS, done);
      if (done.aborted) return;
      await deps.renew(claimed, clock.nowMs() + LEASE_MS).catch((err) => {
        log.warn({ err, sessionId: claimed.sessionId }, 'analysis is not held longer and may be run twice');
      });
    }
  }

  async function resultOf(claimed: ClaimedRun, stopping: AbortSignal): Promise<AnalysisResult> {
    const { sessionId, agentId, agentVersion, tries } = claimed;
    if (tries > MAX_TRIES) return failedAnalysis('Analysis was interrupted too often');
    const config = agentVersion === null ? null : await deps.pinnedConfig(agentId, agentVersion);
    if (!config) return SKIPPED;
    return deps.analyser.analyse(config, await deps.listItems(sessionId), stopping);
  }

  return { run: (stopping: AbortSignal) => loop.run(stopping), poke: () => loop.poke() };
}
