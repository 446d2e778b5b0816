import { Type } from 'typebox';
import { type AnyRoute, route } from '../http/route.ts';

const AnalysisPath = Type.Object({ session_id: Type.String() });
const QueuedAnalysis = Type.Object(
  { session_id: Type.String(), status: Type.Literal('queued') },
  { title: 'QueuedAnalysis' },
);

/** `rerun` throws 404 for a session that isn't there, 409 for an analysis that is neither skipped nor failed. */
export function analysisRoutes(deps: {
  readonly rerun: (sessionId: string, workspaceId: string) => Promise<void>;
}): AnyRoute[] {
  return [
    route({
      method: 'POST',
      path: '/v1/agent/sessions/{session_id}/analysis',
      access: 'api_key',
      summary: 'Run a skipped or failed analysis again',
      tag: 'sessions',
      params: AnalysisPath,
      refusals: ['conflict'],
      reply: { status: 202, schema: QueuedAnalysis },
      handle: async ({ params, caller }) => {
        await deps.rerun(params.session_id, caller.workspaceId);
        return { session_id: params.session_id, status: 'queued' as const };
      },
    }),
  ];
}
