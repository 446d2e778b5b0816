import { toIso } from '../../shared/time.ts';
import { isCredential, type ToolDefinition } from '../../shared/tool-definition.ts';
import type { Tool, ToolSummary } from './tool-schema.ts';
import type { ToolDoc } from './tool-store.ts';

export function toToolSummary(tool: ToolDoc, usedBy: number): ToolSummary {
  const { name, description, tool_type, method, url } = tool.content;
  return {
    tool_id: tool._id,
    workspace_id: tool.workspaceId,
    name,
    description,
    tool_type,
    method,
    url,
    used_by: usedBy,
    created_at: toIso(tool.createdAtMs),
    updated_at: toIso(tool.updatedAtMs),
  };
}

/** The whole tool as callers read it: credentials become `has_secret`. */
export function toTool(tool: ToolDoc, usedBy: number): Tool {
  const headers = tool.content.headers.map(({ name, kind, value }) => {
    const isSecret = isCredential({ kind });
    return { name, kind, value: isSecret ? null : value, has_secret: isSecret };
  });
  return { ...tool.content, ...toToolSummary(tool, usedBy), headers };
}

/** What an agent gets of a tool; credentials stay in stored form. */
export function toToolDefinition(tool: ToolDoc): ToolDefinition {
  const { mock_responses: _unused, ...content } = tool.content;
  return { tool_id: tool._id, ...content };
}
