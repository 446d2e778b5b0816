import { unknownSystemVariables } from '../../shared/dynamic-variables.ts';
import type { FieldIssue } from '../../shared/errors.ts';
import { requestHeaders } from '../../shared/outgoing/http-headers.ts';
import { OutgoingError } from '../../shared/outgoing/outgoing-error.ts';
import { CLIENT_TOOL_NAME_PATTERN, TOOL_TIMEOUT_MAX_S } from '../../shared/tool-definition.ts';
import { fillUrlTemplate } from '../../shared/tool-template.ts';
import type { ToolContent } from './tool-schema.ts';

type Loc = readonly (string | number)[];

const CLIENT_TOOL_NAME = new RegExp(CLIENT_TOOL_NAME_PATTERN);
/** Scheme and host stand written out: an argument must not choose whom a credential is sent to. */
const PLAIN_HOST = /^https?:\/\/[^/?#\\{}\s]+([/?#]|$)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: URL parsers drop some of these silently.
const SPACE_OR_CONTROL = /[\u0000-\u0020\u007f]/;

/** Rules a schema can't say, on a whole tool with its headers in the clear; the issues lie in the request's body. */
export function toolIssues(tool: ToolContent, checkUrlSyntax: (url: string) => void): FieldIssue[] {
  return [
    ...kindIssues(tool),
    ...urlIssues(tool, checkUrlSyntax),
    ...unknownSystemVariables(tool.body_template).map((name) =>
      issue(['body_template'], `unknown system variable ${name}`),
    ),
    ...repeated(tool.arguments.map(({ name }) => name)).map((index) =>
      issue(['arguments', index, 'name'], 'argument names must be unique'),
    ),
    ...headerIssues(tool),
  ];
}

function kindIssues(tool: ToolContent): FieldIssue[] {
  const issues: FieldIssue[] = [];
  if (tool.tool_type === 'client' && !CLIENT_TOOL_NAME.test(tool.name)) issues.push(clientNameIssue());
  if (tool.tool_type === 'client' && tool.execution_mode !== 'blocking') {
    issues.push(issue(['execution_mode'], 'execution_mode belongs to webhook tools'));
  }
  if (tool.execution_mode !== 'background' && tool.timeout_seconds > TOOL_TIMEOUT_MAX_S) {
    issues.push({
      type: 'less_than_equal',
      loc: ['body', 'timeout_seconds'],
      msg: `Input should be less than or equal to ${TOOL_TIMEOUT_MAX_S}`,
      ctx: { le: TOOL_TIMEOUT_MAX_S },
    });
  }
  return issues;
}

function urlIssues({ tool_type, url }: ToolContent, checkUrlSyntax: (url: string) => void): FieldIssue[] {
  if (url === '') return tool_type === 'client' ? [] : [issue(['url'], 'webhook tools need a url')];
  const unknown = unknownSystemVariables(url);
  if (unknown.length > 0) return unknown.map((name) => issue(['url'], `unknown system variable ${name}`));
  // Whatever is filled in later stays within its part of the URL, as this does.
  const filled = fillUrlTemplate(url, () => 'x');
  if (SPACE_OR_CONTROL.test(filled)) return [issue(['url'], 'URL is not valid')];
  try {
    checkUrlSyntax(filled);
    return PLAIN_HOST.test(url) ? [] : [issue(['url'], 'the host of the URL must be written out')];
  } catch (error) {
    if (error instanceof OutgoingError) return [issue(['url'], error.message)];
    throw error;
  }
}

function headerIssues({ headers }: ToolContent): FieldIssue[] {
  const unusable = headers.flatMap(({ name, value }, index) => {
    if (!isSent(name, '')) return [issue(['headers', index, 'name'], 'header can’t be set')];
    return isSent(name, value) ? [] : [issue(['headers', index, 'value'], 'header value is not valid')];
  });
  const again = repeated(headers.map(({ name }) => name.toLowerCase())).map((index) =>
    issue(['headers', index, 'name'], 'header names must be unique'),
  );
  return [...unusable, ...again];
}

/** False for what can't stand in a header and for headers that belong to the connection. */
function isSent(name: string, value: string): boolean {
  try {
    return Object.keys(requestHeaders({ [name]: value })).length === 1;
  } catch (error) {
    if (error instanceof OutgoingError) return false;
    throw error;
  }
}

function clientNameIssue(): FieldIssue {
  return {
    type: 'string_pattern_mismatch',
    loc: ['body', 'name'],
    msg: `String should match pattern '${CLIENT_TOOL_NAME_PATTERN}'`,
    ctx: { pattern: CLIENT_TOOL_NAME_PATTERN },
  };
}

function issue(loc: Loc, msg: string): FieldIssue {
  return { type: 'value_error', loc: ['body', ...loc], msg: `Value error, ${msg}`, ctx: {} };
}

/** Indexes of entries that were there before. */
function repeated(values: readonly string[]): number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []));
}
