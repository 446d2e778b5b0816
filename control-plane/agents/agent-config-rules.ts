import type { AgentConfig } from '../../shared/agent-config.ts';
import { unknownSystemVariables } from '../../shared/dynamic-variables.ts';
import type { FieldIssue } from '../../shared/errors.ts';
import { isTimeZone } from '../../shared/time-zone.ts';
import type { AgentConfigPatch } from './agent-config-patch.ts';

type Loc = readonly (string | number)[];

/** Rules a schema can't say, on a whole configuration; `loc` in the issues is relative to the configuration. */
export function configIssues(config: AgentConfig, llmModels: readonly string[]): FieldIssue[] {
  const { timezone } = config.conversation;
  return [
    ...templateIssues(config),
    ...(timezone === '' || isTimeZone(timezone)
      ? []
      : [issue(['conversation', 'timezone'], 'timezone must be a valid IANA timezone')]),
    ...repeated(config.webhooks.post_call.map(({ url }) => normalUrl(url))).map((index) =>
      issue(['webhooks', 'post_call', index, 'url'], 'webhook urls must be unique'),
    ),
    ...analysisIssues(config),
    ...(config.llm.model === 'default' || llmModels.includes(config.llm.model)
      ? []
      : [issue(['llm', 'model'], 'unknown model')]),
    ...customLlmIssues(config),
  ];
}

/** Rules about what one patch may hold together. */
export function patchIssues(patch: AgentConfigPatch): FieldIssue[] {
  const llm = patch.llm;
  const isBoth = llm?.custom && (llm.tier !== undefined || llm.model !== undefined);
  return isBoth ? [issue(['llm', 'custom'], 'custom excludes tier and model')] : [];
}

/** The URLs that `patch` brings in, with their place; they are checked against the outside world. */
export function patchedUrls(
  config: AgentConfig,
  patch: AgentConfigPatch,
): { loc: Loc; url: string; isHttpsOnly: boolean }[] {
  const urls: { loc: Loc; url: string; isHttpsOnly: boolean }[] = [];
  if (patch.webhooks?.post_call) {
    config.webhooks.post_call.forEach(({ url }, index) => {
      urls.push({ loc: ['webhooks', 'post_call', index, 'url'], url, isHttpsOnly: false });
    });
  }
  const inbound = config.webhooks.conversation_init;
  if (patch.webhooks?.conversation_init?.url !== undefined && inbound) {
    urls.push({ loc: ['webhooks', 'conversation_init', 'url'], url: inbound.url, isHttpsOnly: false });
  }
  const custom = config.llm.custom;
  if (patch.llm?.custom?.base_url !== undefined && custom) {
    urls.push({ loc: ['llm', 'custom', 'base_url'], url: custom.base_url, isHttpsOnly: true });
  }
  return urls;
}

export function issue(loc: Loc, msg: string): FieldIssue {
  return { type: 'value_error', loc, msg: `Value error, ${msg}`, ctx: {} };
}

function templateIssues({ prompt, conversation }: AgentConfig): FieldIssue[] {
  const templates: [Loc, string][] = [
    [['prompt', 'system_prompt'], prompt.system_prompt],
    [['prompt', 'first_message'], prompt.first_message],
    [['prompt', 'first_message_prompt'], prompt.first_message_prompt],
    [['conversation', 'outbound', 'voicemail', 'message'], conversation.outbound?.voicemail?.message ?? ''],
  ];
  return templates.flatMap(([loc, text]) =>
    unknownSystemVariables(text).map((name) => issue(loc, `unknown system variable ${name}`)),
  );
}

function analysisIssues({ analysis }: AgentConfig): FieldIssue[] {
  const names = (list: 'data_fields' | 'criteria') =>
    repeated(analysis[list].map(({ name }) => name)).map((index) =>
      issue(['analysis', list, index, 'name'], 'names must be unique'),
    );
  const options = analysis.data_fields.flatMap((field, index) => {
    const loc = ['analysis', 'data_fields', index, 'enum_options'];
    if (field.type !== 'enum' && field.enum_options.length > 0)
      return [issue(loc, 'enum_options belong to fields of type enum')];
    if (field.type === 'enum' && (field.enum_options.length < 2 || repeated(field.enum_options).length > 0))
      return [issue(loc, 'a field of type enum needs 2 to 20 different enum_options')];
    return [];
  });
  return [...names('data_fields'), ...names('criteria'), ...options];
}

function customLlmIssues({ llm }: AgentConfig): FieldIssue[] {
  if (!llm.custom) return [];
  const loc = ['llm', 'custom', 'base_url'];
  if (!URL.canParse(llm.custom.base_url)) return [issue(loc, 'URL is not valid')];
  const { search, hash } = new URL(llm.custom.base_url);
  return search || hash ? [issue(loc, 'URL must have no query and no fragment')] : [];
}

/** Indexes of entries that were there before. */
function repeated(values: readonly string[]): number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []));
}

function normalUrl(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url;
}
