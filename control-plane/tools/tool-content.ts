import { Failure } from '../../shared/errors.ts';
import { fieldIssues } from '../../shared/field-issues.ts';
import { createCompile } from '../http/validators.ts';
import { toolIssues } from './tool-rules.ts';
import { ToolContent } from './tool-schema.ts';

const check = createCompile({ fillDefaults: true })(ToolContent);

/** The candidate with every default filled in, proven to be a whole tool that keeps all rules; 422 otherwise. */
export function completeToolContent(candidate: unknown, checkUrlSyntax: (url: string) => void): ToolContent {
  // Through JSON: the copy may be filled in, and fields that are undefined count as missing.
  const content: unknown = JSON.parse(JSON.stringify(candidate));
  if (!check(content)) {
    throw new Failure('unprocessable', 'Tool is not valid', {
      issues: fieldIssues(check.errors ?? [], 'body'),
    });
  }
  // The validator has just proven it.
  const tool = content as ToolContent;
  const issues = toolIssues(tool, checkUrlSyntax);
  if (issues.length > 0) throw new Failure('unprocessable', 'Tool is not valid', { issues });
  return tool;
}
