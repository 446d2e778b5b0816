import type { AgentConfig, AgentConfigRead } from '../../shared/agent-config.ts';
import { newId } from '../../shared/ids.ts';

/** Seals and opens texts; `context` says where a text belongs. */
export interface Sealer {
  readonly seal: (text: string, context: string) => string;
  readonly open: (sealed: string, context: string) => string;
}

type SecretKind = 'llm' | 'webhook';

/**
 * The secrets of one agent's configuration. Stored form: `<revision>:<sealed>`. The revision changes with the value
 * alone, so that the configuration's hash follows a rotated secret and not a rotated sealing key.
 */
export function createAgentSecrets(sealer: Sealer, agentId: string) {
  const contextOf = (kind: SecretKind) => `agent:${agentId}:${kind}`;

  function reveal(stored: string, kind: SecretKind): string {
    return sealer.open(stored.slice(stored.indexOf(':') + 1), contextOf(kind));
  }

  /** What to store when `given` was sent: nothing or null keeps `stored`, the empty string deletes it. */
  function replace(given: string | null | undefined, stored: string | null, kind: SecretKind): string | null {
    if (given === undefined || given === null) return stored;
    if (given === '') return null;
    if (stored !== null && reveal(stored, kind) === given) return stored;
    return `${newId()}:${sealer.seal(given, contextOf(kind))}`;
  }

  /** The configuration a worker runs: the model's key in the clear, webhook keys left out, as no worker needs them. */
  function forWorker(config: AgentConfig): AgentConfig {
    return mapSecrets(config, (stored, kind) =>
      stored === null || kind === 'webhook' ? null : reveal(stored, kind),
    );
  }
  return { replace, reveal, forWorker };
}
export type AgentSecrets = ReturnType<typeof createAgentSecrets>;

/** Changes with the secret's value alone. */
export function revisionOf(stored: string): string {
  return stored.slice(0, stored.indexOf(':'));
}

/** A copy with each secret replaced by what `change` makes of it. The only place that knows where secrets are. */
export function mapSecrets(
  config: AgentConfig,
  change: (secret: string | null, kind: SecretKind) => string | null,
): AgentConfig {
  const { post_call, conversation_init } = config.webhooks;
  const { custom } = config.llm;
  return {
    ...config,
    webhooks: {
      post_call: post_call.map((entry) => ({ ...entry, secret: change(entry.secret, 'webhook') })),
      conversation_init: conversation_init && {
        ...conversation_init,
        secret: change(conversation_init.secret, 'webhook'),
      },
    },
    llm: { ...config.llm, custom: custom && { ...custom, api_key: change(custom.api_key, 'llm') } },
  };
}

/** What callers read: webhook secrets become `has_secret`, the model's key null. */
export function withoutSecrets(config: AgentConfig): AgentConfigRead {
  const { post_call, conversation_init } = config.webhooks;
  return {
    ...mapSecrets(config, () => null),
    webhooks: {
      post_call: post_call.map(({ url, secret }) => ({ url, has_secret: secret !== null })),
      conversation_init: conversation_init && {
        url: conversation_init.url,
        has_secret: conversation_init.secret !== null,
        timeout_seconds: conversation_init.timeout_seconds,
      },
    },
  };
}
