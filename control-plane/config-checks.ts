import type { OutgoingClient } from '../shared/outgoing/outgoing-client.ts';
import { OutgoingError } from '../shared/outgoing/outgoing-error.ts';
import type { ConfigChecks } from './agents/agent-config-service.ts';
import type { KnowledgeAttachment } from './knowledge/knowledge-attachment.ts';
import type { ToolAttachment } from './tools/tool-attachment.ts';

export interface ConfigChecksDeps {
  readonly outgoing: Pick<OutgoingClient, 'checkUrl'>;
  /** Model of the settings; empty when there is none. */
  readonly llmModel: string;
  readonly tools: Pick<ToolAttachment, 'unknown' | 'repeatedClientName'>;
  readonly knowledge: Pick<KnowledgeAttachment, 'unknown'>;
}

/** What agents' configurations are checked against outside themselves. */
export function createConfigChecks({ outgoing, llmModel, tools, knowledge }: ConfigChecksDeps): ConfigChecks {
  async function urlProblem(url: string, rules: { readonly isHttpsOnly: boolean }): Promise<string | null> {
    try {
      await outgoing.checkUrl(url);
    } catch (error) {
      if (error instanceof OutgoingError) return error.message;
      throw error;
    }
    return rules.isHttpsOnly && new URL(url).protocol !== 'https:' ? 'URL must use https' : null;
  }

  return {
    llmModels: llmModel === '' ? [] : [llmModel],
    urlProblem,
    unknownTools: tools.unknown,
    repeatedClientTool: tools.repeatedClientName,
    unknownKnowledgeSources: knowledge.unknown,
  };
}
