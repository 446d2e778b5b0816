import type { LlmTool } from '../../llm-engine.ts';
import type { Slots } from './slots.ts';
import { fillArguments } from './tool-arguments.ts';
import { contentStems, stem, wordsOf } from './words.ts';

/** Ends the call; chosen by the goodbye, never by its description. */
export const HANG_UP_TOOL = 'hang_up_call';

const NAME_WEIGHT = 2;
/** One word of the name and one of the description, or two of the name. */
const ENOUGH = 3;
const MEANINGLESS = new Set(
  'tool call caller user customer use get fetch return given provide information when ask set api function'
    .split(' ')
    .map(stem),
);

export interface ToolChoice {
  readonly tool: LlmTool;
  readonly args: Readonly<Record<string, unknown>>;
  /** Name and, where the schema has one, description of a required argument that the caller has not given. */
  readonly missing: { readonly name: string; readonly question: string } | null;
}

/**
 * The tool whose name and description share most with what the caller said, if they share enough. `text` is the
 * caller's turn; `slots` what is known from the whole call.
 */
export function chooseTool(tools: readonly LlmTool[], text: string, slots: Slots): ToolChoice | null {
  const said = new Set(contentStems(text));
  let best: LlmTool | null = null;
  let bestScore = 0;
  for (const tool of tools) {
    if (tool.name === HANG_UP_TOOL) continue;
    const score = scoreOf(tool, said);
    if (score > bestScore) {
      best = tool;
      bestScore = score;
    }
  }
  if (!best || bestScore < ENOUGH) return null;
  return { tool: best, ...fillArguments(best, text, slots) };
}

function scoreOf(tool: LlmTool, said: ReadonlySet<string>): number {
  const nameWords = new Set(
    wordsOf(tool.name.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ')).map(stem),
  );
  const described = new Set(contentStems(tool.description));
  let score = 0;
  for (const word of said) {
    if (MEANINGLESS.has(word)) continue;
    if (nameWords.has(word)) score += NAME_WEIGHT;
    if (described.has(word)) score += 1;
  }
  return score;
}
