import type { AgentConfig } from '../../shared/agent-config.ts';
import type { OutgoingClient } from '../../shared/outgoing/outgoing-client.ts';
import { OutgoingError } from '../../shared/outgoing/outgoing-error.ts';
import type { TimelineItem } from '../../shared/session-timeline.ts';
import { instructions, readReply, replySchema } from './analysis-request.ts';
import {
  type AnalysisConfig,
  type AnalysisResult,
  failedAnalysis,
  isDisabled,
  SKIPPED,
} from './analysis-result.ts';
import { askModel, type ModelEndpoint, ModelRefusal } from './language-model.ts';
import { extractiveSummary, hasCallerSpoken, transcriptText } from './transcript.ts';

const DEADLINE_MS = 30_000;
const ATTEMPTS = 2;
const NO_MODEL = 'No language model is set up to read the conversation.';

export interface AnalyserDeps {
  /** The endpoint of the settings; null when none is set. */
  readonly house: ModelEndpoint | null;
  /** Reaches the endpoint of the settings, which may be private. */
  readonly operatorHttp: Pick<OutgoingClient, 'request'>;
  /** Reaches agents' own endpoints: public addresses alone. */
  readonly http: Pick<OutgoingClient, 'request'>;
}

/** Reads a finished conversation as its agent's configuration asks. */
export function createAnalyser({ house, operatorHttp, http }: AnalyserDeps) {
  /**
   * Skipped when the caller never spoke or nothing is asked. With a model (the agent's own, else the one of the
   * settings) at most two tries of 30 s, then `error`; without one the summary is extractive and nothing is judged.
   * Never rejects, except by `signal`, which cuts it off.
   */
  async function analyse(
    { analysis, llm }: AgentConfig,
    items: readonly TimelineItem[],
    signal: AbortSignal,
  ): Promise<AnalysisResult> {
    if (isDisabled(analysis) || !hasCallerSpoken(items)) return SKIPPED;
    if (llm.custom) {
      const { base_url: baseUrl, api_key: apiKey, model } = llm.custom;
      return askTwice(http, { baseUrl, apiKey, model }, analysis, items, signal);
    }
    return house ? askTwice(operatorHttp, house, analysis, items, signal) : withoutModel(analysis, items);
  }

  return { analyse };
}
export type Analyser = ReturnType<typeof createAnalyser>;

async function askTwice(
  http: Pick<OutgoingClient, 'request'>,
  endpoint: ModelEndpoint,
  config: AnalysisConfig,
  items: readonly TimelineItem[],
  signal: AbortSignal,
): Promise<AnalysisResult> {
  const question = {
    instructions: instructions(config),
    input: transcriptText(items),
    schema: replySchema(config),
    deadlineMs: DEADLINE_MS,
    signal,
  };
  let cause = '';
  for (let tries = 0; tries < ATTEMPTS; tries++) {
    try {
      const result = readReply(config, await askModel(http, endpoint, question));
      if (result) return result;
      cause = 'Language model gave a reply of another form';
    } catch (error) {
      if (!(error instanceof OutgoingError || error instanceof ModelRefusal) || signal.aborted) throw error;
      cause = error instanceof OutgoingError ? `Language model: ${error.message}` : error.message;
    }
  }
  return failedAnalysis(cause);
}

function withoutModel(config: AnalysisConfig, items: readonly TimelineItem[]): AnalysisResult {
  return {
    status: 'completed',
    summary: config.summary.enabled ? extractiveSummary(items) : null,
    data: config.data_fields.map(({ name, type }) => ({ name, type, value: null, rationale: NO_MODEL })),
    criteriaResults: config.criteria.map(({ name }) => ({ name, result: 'unknown', rationale: NO_MODEL })),
    error: null,
  };
}
