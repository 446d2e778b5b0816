import { expectTypeOf, test } from 'vitest';
import type { Agent, ConfigDocument, VersionSummary } from '../../control-plane/agents/agent-schema.ts';
import type * as shown from '../../control-plane/console/api-types.ts';
import type {
  SessionDetail,
  SessionList,
  SessionToken,
} from '../../control-plane/sessions/session-schema.ts';

/** `npm run check` is what proves these: the console reads nothing that the API doesn't promise. */
test('what the console reads is what the API replies', () => {
  expectTypeOf<Agent>().toExtend<shown.Agent>();
  expectTypeOf<ConfigDocument>().toExtend<shown.AgentConfig>();
  expectTypeOf<VersionSummary>().toExtend<shown.VersionSummary>();
  expectTypeOf<SessionToken>().toExtend<shown.SessionToken>();
  expectTypeOf<SessionList>().toExtend<shown.SessionList>();
  expectTypeOf<SessionDetail>().toExtend<shown.SessionDetail>();
});
