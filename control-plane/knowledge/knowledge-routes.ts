import { type AnyRoute, route } from '../http/route.ts';
import {
  CreateSourceForm,
  KnowledgeSourceDetail,
  SourceAgents,
  SourceList,
  SourceListQuery,
  SourcePath,
  UpdateSourceForm,
} from './knowledge-schema.ts';
import type { KnowledgeService } from './knowledge-service.ts';
import { fileTooLarge, SOURCE_MAX_BYTES } from './upload-text.ts';

const SOURCES = '/v1/agent/knowledge-sources';
const SOURCE = `${SOURCES}/{source_id}`;
const multipart = { maxFileBytes: SOURCE_MAX_BYTES, tooLarge: fileTooLarge };

/** The endpoints of knowledge sources. */
export function knowledgeRoutes(knowledge: KnowledgeService): AnyRoute[] {
  return [...readRoutes(knowledge), ...writeRoutes(knowledge)];
}

function readRoutes(knowledge: KnowledgeService): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: SOURCES,
      access: 'api_key',
      summary: 'List knowledge sources, newest first',
      tag: 'knowledge sources',
      query: SourceListQuery,
      reply: { status: 200, schema: SourceList },
      handle: ({ query, caller }) => knowledge.list(query, caller),
    }),
    route({
      method: 'GET',
      path: SOURCE,
      access: 'api_key',
      summary: 'Read a knowledge source with its text',
      tag: 'knowledge sources',
      params: SourcePath,
      reply: { status: 200, schema: KnowledgeSourceDetail },
      handle: ({ params, caller }) => knowledge.get(params.source_id, caller),
    }),
    route({
      method: 'GET',
      path: `${SOURCE}/agents`,
      access: 'api_key',
      summary: 'List the agents whose draft or live version has the knowledge source',
      tag: 'knowledge sources',
      params: SourcePath,
      reply: { status: 200, schema: SourceAgents },
      handle: ({ params, caller }) => knowledge.listAgents(params.source_id, caller),
    }),
  ];
}

function writeRoutes(knowledge: KnowledgeService): AnyRoute[] {
  return [
    route({
      method: 'POST',
      path: SOURCES,
      access: 'api_key',
      summary: 'Upload a knowledge source: plain text or Markdown in UTF-8, at most 1 MB',
      tag: 'knowledge sources',
      refusals: ['forbidden'],
      body: CreateSourceForm,
      multipart,
      reply: { status: 201, schema: KnowledgeSourceDetail },
      handle: ({ body, caller }) => knowledge.create(body, caller),
    }),
    route({
      method: 'PATCH',
      path: SOURCE,
      access: 'api_key',
      summary: 'Change a knowledge source; a new file becomes its next revision',
      tag: 'knowledge sources',
      params: SourcePath,
      body: UpdateSourceForm,
      multipart,
      reply: { status: 200, schema: KnowledgeSourceDetail },
      handle: ({ params, body, caller }) => knowledge.update(params.source_id, body, caller),
    }),
    route({
      method: 'DELETE',
      path: SOURCE,
      access: 'api_key',
      summary: 'Delete a knowledge source that no draft and no live version has',
      tag: 'knowledge sources',
      refusals: ['conflict'],
      params: SourcePath,
      reply: { status: 204 },
      handle: async ({ params, caller }) => {
        await knowledge.remove(params.source_id, caller);
        return undefined;
      },
    }),
  ];
}
