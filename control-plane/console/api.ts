import type { Send } from './api-request.ts';
import type {
  Agent,
  AgentConfig,
  AgentList,
  Choices,
  SessionDetail,
  SessionList,
  SessionToken,
  VersionList,
  VersionSummary,
} from './api-types.ts';

const AGENTS = '/v1/agent/agents';
const SESSIONS = '/v1/agent/sessions';
const PAGE_SIZE = 20;

export interface AgentQuery {
  readonly search: string;
  readonly publicationState: string;
  readonly cursor: string | null;
}

/** The endpoints that the console uses, all of the public API but the choices. */
export function createApi(send: Send) {
  const agent = (id: string) => `${AGENTS}/${encodeURIComponent(id)}`;
  const session = (id: string) => `${SESSIONS}/${encodeURIComponent(id)}`;

  return {
    choices: () => send<Choices>('GET', '/console/choices.json'),
    listAgents: ({ search, publicationState, cursor }: AgentQuery) =>
      send<AgentList>(
        'GET',
        withQuery(AGENTS, { search, publication_state: publicationState, cursor, page_size: PAGE_SIZE }),
      ),
    createAgent: (body: object) => send<Agent>('POST', AGENTS, body),
    getAgent: (id: string) => send<Agent>('GET', agent(id)),
    patchAgent: (id: string, body: object) => send<Agent>('PATCH', agent(id), body),
    getConfig: (id: string) => send<AgentConfig>('GET', `${agent(id)}/config`),
    patchConfig: (id: string, body: object) => send<AgentConfig>('PATCH', `${agent(id)}/config`, body),
    publish: (id: string) => send<VersionSummary>('POST', `${agent(id)}/publish`),
    /** Null for an agent that was never published. */
    liveVersion: async (id: string): Promise<VersionSummary | null> => {
      const { versions } = await send<VersionList>('GET', `${agent(id)}/versions?page_size=1`);
      return versions[0] ?? null;
    },
    startSession: (agentId: string, timezone: string) =>
      send<SessionToken>('POST', SESSIONS, { agent_id: agentId, client_timezone: timezone }),
    previewDraft: (agentId: string, timezone: string) =>
      send<SessionToken>('POST', `${agent(agentId)}/preview`, { client_timezone: timezone }),
    listSessions: (agentId: string | null, cursor: string | null) =>
      send<SessionList>('GET', withQuery(SESSIONS, { agent_id: agentId, cursor, page_size: PAGE_SIZE })),
    getSession: (id: string) => send<SessionDetail>('GET', session(id)),
    endSession: (id: string) => send<null>('POST', `${session(id)}/end`),
  };
}
export type Api = ReturnType<typeof createApi>;

function withQuery(path: string, values: Readonly<Record<string, string | number | null>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    if (value !== null && value !== '') query.set(name, String(value));
  return `${path}?${query}`;
}
