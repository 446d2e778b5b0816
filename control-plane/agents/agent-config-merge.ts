import type { AgentConfig } from '../../shared/agent-config.ts';
import type {
  AgentConfigPatch,
  ConversationInitPatch,
  CustomLlmPatch,
  PostCallEntry,
} from './agent-config-patch.ts';
import type { AgentSecrets } from './agent-secrets.ts';

const DEFAULT_INBOUND_TIMEOUT_S = 5;

/**
 * `stored` with `patch` applied: objects are merged at every depth, lists replaced whole, left-out fields kept. New
 * secrets come out in stored form. The result may still lack required fields or break rules: it isn't checked here.
 */
export function mergeAgentConfig(
  stored: AgentConfig,
  patch: AgentConfigPatch,
  secrets: AgentSecrets,
): unknown {
  const { webhooks, llm, ...plain } = patch;
  const merged = deepMerge(stored, plain) as AgentConfig;
  return {
    ...merged,
    conversation: { ...merged.conversation, outbound: completeOutbound(merged.conversation.outbound) },
    webhooks: {
      post_call:
        webhooks?.post_call === undefined
          ? stored.webhooks.post_call
          : mergePostCall(stored.webhooks.post_call, asList(webhooks.post_call), secrets),
      conversation_init:
        webhooks?.conversation_init === undefined
          ? stored.webhooks.conversation_init
          : mergeInbound(stored.webhooks.conversation_init, webhooks.conversation_init, secrets),
    },
    knowledge_base: {
      ...merged.knowledge_base,
      // Sources named without the switch are meant to be used.
      ...(patch.knowledge_base?.knowledge_source_ids?.length && patch.knowledge_base.enabled === undefined
        ? { enabled: true }
        : {}),
    },
    llm: {
      ...stored.llm,
      ...(llm?.tier === undefined ? {} : { tier: llm.tier }),
      ...(llm?.model === undefined ? {} : { model: llm.model }),
      ...(llm?.custom === undefined
        ? {}
        : { custom: mergeCustomLlm(stored.llm.custom, llm.custom, secrets) }),
    },
  };
}

function asList(given: PostCallEntry[] | PostCallEntry | null): PostCallEntry[] {
  if (given === null) return [];
  return Array.isArray(given) ? given : [given];
}

function mergePostCall(
  stored: AgentConfig['webhooks']['post_call'],
  given: readonly PostCallEntry[],
  secrets: AgentSecrets,
): AgentConfig['webhooks']['post_call'] {
  return given.map(({ url, secret }) => {
    const kept = stored.find((entry) => entry.url === url)?.secret ?? null;
    return { url, secret: secrets.replace(secret, kept, 'webhook') };
  });
}

function mergeInbound(
  stored: AgentConfig['webhooks']['conversation_init'],
  given: ConversationInitPatch | null,
  secrets: AgentSecrets,
): unknown {
  if (given === null) return null;
  const url = given.url ?? stored?.url;
  // A secret belongs to its address: another address starts without one.
  const kept = stored && stored.url === url ? stored.secret : null;
  return {
    url,
    secret: secrets.replace(given.secret, kept, 'webhook'),
    timeout_seconds: given.timeout_seconds ?? stored?.timeout_seconds ?? DEFAULT_INBOUND_TIMEOUT_S,
  };
}

function mergeCustomLlm(
  stored: AgentConfig['llm']['custom'],
  given: CustomLlmPatch | null,
  secrets: AgentSecrets,
): unknown {
  if (given === null) return null;
  const baseUrl = given.base_url ?? stored?.base_url;
  return {
    base_url: baseUrl?.replace(/\/chat\/completions\/?$/, ''),
    model: given.model ?? stored?.model,
    api_key: secrets.replace(given.api_key, stored?.api_key ?? null, 'llm'),
  };
}

/** Fills in what a union in the schema can't default. */
function completeOutbound(outbound: AgentConfig['conversation']['outbound']): unknown {
  if (outbound === null) return null;
  const voicemail = outbound.voicemail ?? null;
  return {
    amd_enabled: outbound.amd_enabled ?? true,
    voicemail: voicemail && { ...voicemail, message: voicemail.message ?? '' },
  };
}

function deepMerge(base: unknown, patch: unknown): unknown {
  if (!isRecord(base) || !isRecord(patch)) return patch;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    if (value !== undefined) merged[key] = deepMerge(merged[key], value);
  }
  return merged;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
