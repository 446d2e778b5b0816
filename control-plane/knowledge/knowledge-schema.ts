import { type Static, Type } from 'typebox';
import { UploadedFile } from '../http/multipart-body.ts';
import { pageQueryFields, pageReplyFields } from '../http/pagination.ts';

const Timestamp = Type.String({ format: 'date-time' });
const Name = Type.String({ minLength: 1, maxLength: 255, description: 'The file’s name unless given.' });
const Description = Type.String({ maxLength: 2000 });

export const CreateSourceForm = Type.Object(
  { source: UploadedFile, name: Type.Optional(Name), description: Type.Optional(Description) },
  {
    additionalProperties: false,
    title: 'CreateKnowledgeSourceForm',
    examples: [{ source: 'We are open from 9 to 17, Monday to Friday.', name: 'Opening hours' }],
  },
);
export type CreateSourceForm = Static<typeof CreateSourceForm>;

export const UpdateSourceForm = Type.Object(
  {
    source: Type.Optional(UploadedFile),
    name: Type.Optional(Name),
    description: Type.Optional(Description),
  },
  {
    additionalProperties: false,
    title: 'UpdateKnowledgeSourceForm',
    examples: [{ description: 'When somebody is at the desk.' }],
  },
);
export type UpdateSourceForm = Static<typeof UpdateSourceForm>;

export const KnowledgeSource = Type.Object(
  {
    knowledge_source_id: Type.String(),
    workspace_id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    file_name: Type.String(),
    size_bytes: Type.Integer(),
    chunk_count: Type.Integer({ description: 'Passages the text was cut into for searching.' }),
    revision_number: Type.Integer({ description: 'Counts the uploaded files.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'KnowledgeSource' },
);
export type KnowledgeSource = Static<typeof KnowledgeSource>;

export const KnowledgeSourceDetail = Type.Object(
  {
    ...KnowledgeSource.properties,
    content: Type.String({ description: 'The whole text.' }),
  },
  { title: 'KnowledgeSourceDetail' },
);
export type KnowledgeSourceDetail = Static<typeof KnowledgeSourceDetail>;

export const SourcePath = Type.Object({ source_id: Type.String() });

export const SourceListQuery = Type.Object({
  search: Type.Optional(Type.String({ description: 'Part of the name or file name, in any case.' })),
  ...pageQueryFields,
});
export type SourceListQuery = Static<typeof SourceListQuery>;

export const SourceList = Type.Object(
  {
    knowledge_sources: Type.Array(KnowledgeSource),
    ...pageReplyFields,
  },
  { title: 'KnowledgeSourceList' },
);

export const SourceAgents = Type.Object(
  {
    agents: Type.Array(Type.Object({ agent_id: Type.String(), name: Type.String() })),
    total: Type.Integer(),
  },
  { title: 'KnowledgeSourceAgents' },
);
