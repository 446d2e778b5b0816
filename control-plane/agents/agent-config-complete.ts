import { Ajv2020 } from 'ajv/dist/2020.js';
import { AgentConfig } from '../../shared/agent-config.ts';
import { Failure, type FieldIssue } from '../../shared/errors.ts';
import { fieldIssues } from '../../shared/field-issues.ts';

const check = new Ajv2020({
  allErrors: true,
  verbose: true,
  useDefaults: true,
  strict: true,
}).compile<AgentConfig>(AgentConfig);

/**
 * The candidate with every default filled in, proven to be a whole configuration. Throws a 422 with one issue per
 * field, located under `loc`.
 */
export function completeAgentConfig(candidate: unknown, loc: readonly string[]): AgentConfig {
  // Through JSON: the copy may be filled in, and fields that are undefined count as missing.
  const config: unknown = JSON.parse(JSON.stringify(candidate));
  if (check(config)) return config;
  const issues = fieldIssues(check.errors ?? [], 'body').map((found) => ({
    ...found,
    loc: found.loc.slice(1),
  }));
  throw refuseConfig(issues, loc);
}

/** A new agent's configuration. */
export function defaultAgentConfig(): AgentConfig {
  return completeAgentConfig({}, []);
}

/** A 422 of issues whose `loc` is relative to the configuration, which lies under `loc`. */
export function refuseConfig(issues: readonly FieldIssue[], loc: readonly string[]): Failure {
  return new Failure('unprocessable', 'Configuration is not valid', {
    issues: issues.map((found) => ({ ...found, loc: [...loc, ...found.loc] })),
  });
}
