import { Failure } from '../../shared/errors.ts';
import type { OutgoingClient } from '../../shared/outgoing/outgoing-client.ts';
import { OutgoingError } from '../../shared/outgoing/outgoing-error.ts';
import type { Clock } from '../../shared/time.ts';
import { localDate } from '../../shared/time-zone.ts';
import { TOOL_RESPONSE_MAX_BYTES, type ToolDefinition } from '../../shared/tool-definition.ts';
import { buildToolRequest } from '../../shared/tool-request.ts';
import { UnusableArguments } from '../../shared/tool-template.ts';
import type { ToolTestResult } from './tool-schema.ts';

export interface ToolTestCallDeps {
  readonly outgoing: Pick<OutgoingClient, 'request'>;
  readonly clock: Clock;
}

/** Calls webhook tools outside of conversations. */
export function createToolTestCall({ outgoing, clock }: ToolTestCallDeps) {
  /**
   * Calls the tool once, its credentials in the clear, and says what came of it: a call that fails is a result as
   * well. 400 for tools that run in the caller's app.
   */
  return async function testCall(
    tool: ToolDefinition,
    given: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<ToolTestResult> {
    if (tool.tool_type === 'client') {
      throw new Failure('bad_request', 'Client tools run in the caller’s app and can’t be called from here');
    }
    const startedMs = clock.monotonicMs();
    const latencyMs = () => Math.round(clock.monotonicMs() - startedMs);
    try {
      const { body, ...request } = buildToolRequest(tool, {
        arguments: given,
        variables: {},
        system: system(),
      });
      const response = await outgoing.request({
        ...request,
        ...(body === null ? {} : { body }),
        deadlineMs: tool.timeout_seconds * 1000,
        maxBytes: TOOL_RESPONSE_MAX_BYTES,
        signal,
      });
      return {
        status_code: response.status,
        latency_ms: latencyMs(),
        content_type: response.headers['content-type'] ?? null,
        body: response.body.toString('utf8'),
        response_truncated: response.isTruncated,
        error: null,
      };
    } catch (error) {
      if (!(error instanceof OutgoingError || error instanceof UnusableArguments)) throw error;
      return {
        status_code: null,
        latency_ms: latencyMs(),
        content_type: null,
        body: null,
        response_truncated: false,
        error: error.message,
      };
    }
  };

  /** What a conversation would know of itself, for a call without one. */
  function system() {
    const today = localDate(clock.nowMs(), 'UTC');
    return { channel: 'test', timezone: 'UTC', today, language: 'en', caller_number: '', dialed_number: '' };
  }
}
