import { newId } from '../../shared/ids.ts';
import { isCredential, type ToolDefinition, type ToolHeader } from '../../shared/tool-definition.ts';

/** Seals and opens texts; `context` says where a text belongs. */
export interface Sealer {
  readonly seal: (text: string, context: string) => string;
  readonly open: (sealed: string, context: string) => string;
}

/**
 * Credentials in the headers of tools. Stored form: `<revision>:<sealed>`. The revision changes with the value alone,
 * so that what is derived from a tool follows a rotated credential and not a rotated sealing key.
 */
export function createToolSecrets(sealer: Sealer) {
  function reveal(stored: string, toolId: string): string {
    return sealer.open(stored.slice(stored.indexOf(':') + 1), contextOf(toolId));
  }

  /** The headers to store when `given` were sent. A credential that was sent again as it is keeps its stored form. */
  function seal(toolId: string, given: readonly ToolHeader[], stored: readonly ToolHeader[]): ToolHeader[] {
    return given.map((header) => {
      if (!isCredential(header)) return header;
      const known = stored.find(({ name, kind }) => name === header.name && kind === header.kind);
      if (known && reveal(known.value, toolId) === header.value) return known;
      return { ...header, value: `${newId()}:${sealer.seal(header.value, contextOf(toolId))}` };
    });
  }

  /** The tool as it is run, credentials in the clear. Never logged, never sent to callers. */
  function open(tool: ToolDefinition): ToolDefinition {
    const headers = tool.headers.map((header) =>
      isCredential(header) ? { ...header, value: reveal(header.value, tool.tool_id) } : header,
    );
    return { ...tool, headers };
  }
  return { seal, open };
}
export type ToolSecrets = ReturnType<typeof createToolSecrets>;

function contextOf(toolId: string): string {
  return `tool:${toolId}:header`;
}
