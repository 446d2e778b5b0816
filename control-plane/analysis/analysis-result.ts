import type { AgentConfig } from '../../shared/agent-config.ts';

/** What an agent wants to know of each call. */
export type AnalysisConfig = AgentConfig['analysis'];

export interface DataResult {
  readonly name: string;
  readonly type: string;
  /** Null: the conversation doesn't say. */
  readonly value: string | number | boolean | null;
  readonly rationale: string;
}

export interface CriterionResult {
  readonly name: string;
  readonly result: 'success' | 'failure' | 'unknown';
  readonly rationale: string;
}

/** An analysis that has come to an end. */
export interface AnalysisResult {
  readonly status: 'completed' | 'skipped' | 'error';
  readonly summary: string | null;
  readonly data: readonly DataResult[];
  readonly criteriaResults: readonly CriterionResult[];
  /** The cause when the status is `error`. */
  readonly error: string | null;
}

const NOTHING = { summary: null, data: [], criteriaResults: [] } as const;

export const SKIPPED: AnalysisResult = { status: 'skipped', ...NOTHING, error: null };

export function failedAnalysis(error: string): AnalysisResult {
  return { status: 'error', ...NOTHING, error };
}

/** True when the agent wants to know nothing. */
export function isDisabled({ summary, data_fields, criteria }: AnalysisConfig): boolean {
  return !summary.enabled && data_fields.length === 0 && criteria.length === 0;
}
