import type { OutgoingClient } from '../shared/outgoing/outgoing-client.ts';

import type { Clock } from '../shared/time.ts';
import { createReadAttachments } from './agents/agent-attachments.ts';
import { createAgentReferences } from './agents/agent-references.ts';
import type { AgentStore } from './agents/agent-store.ts';
import type { CursorSigner } from './http/cursor-signer.ts';
import { createKnowledgeAttachment } from './knowledge/knowledge-attachment.ts';
import { knowledgeRoutes } from './knowledge/knowledge-routes.ts';
import { createKnowledgeService } from './knowledge/knowledge-service.ts';
import { createKnowledgeStore } from './knowledge/knowledge-store.ts';
import type { Store } from './storage/collection.ts';
import { createToolAttachment } from './tools/tool-attachment.ts';
import { toolRoutes } from './tools/tool-routes.ts';
import { createToolSecrets, type Sealer } from './tools/tool-secrets.ts';
import { createToolService } from './tools/tool-service.ts';
import { createToolStore } from './tools/tool-store.ts';

export interface AgentMaterialsDeps {
  readonly store: Store;
  readonly cursors: CursorSigner;
  readonly sealer: Sealer;
  readonly outgoing: Pick<OutgoingClient, 'request' | 'checkUrlSyntax'>;
  readonly agents: AgentStore;
  readonly clock: Clock;
}

/** Tools and knowledge sources: what a workspace's agents share and each names in its configuration. */
export function createAgentMaterials({
  store,
  cursors,
  sealer,
  outgoing,
  agents,
  clock,
}: AgentMaterialsDeps) {
  const users = createAgentReferences(agents);

  const toolStore = createToolStore(store, cursors);
  const secrets = createToolSecrets(sealer);
  const tools = createToolAttachment({ tools: toolStore, secrets });
  const toolService = createToolService({ tools: toolStore, secrets, users, outgoing, clock });

  const sources = createKnowledgeStore(store, cursors);
  const knowledge = createKnowledgeAttachment(sources);
  const knowledgeService = createKnowledgeService({ sources, listSourceUsers: users.listSourceUsers, clock });

  return {
    tools,
    knowledge,
    readAttachments: createReadAttachments({ toolCopies: tools.copies, newestRevisions: knowledge.pins }),
    routes: [...toolRoutes(toolService), ...knowledgeRoutes(knowledgeService)],
    ensureIndexes: async (): Promise<void> => {
      await Promise.all([toolStore.ensureIndexes(), sources.ensureIndexes()]);
    },
  };
}
