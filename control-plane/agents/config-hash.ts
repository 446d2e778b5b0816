import { createHash } from 'node:crypto';
import type { AgentConfig } from '../../shared/agent-config.ts';
import { isCredential } from '../../shared/tool-definition.ts';
import type { Attachments } from './agent-attachments.ts';
import { mapSecrets, revisionOf } from './agent-secrets.ts';

/**
 * `sha256:<hex>` of the configuration's canonical JSON (keys sorted). A secret counts by its revision: two
 * configurations that differ in a secret differ in their hash, and the hash says nothing about the secret.
 */
export function configHash(stored: AgentConfig): string {
  return hashOf(mapSecrets(stored, (secret) => (secret === null ? null : revisionOf(secret))));
}

/**
 * The hash of a configuration together with what is attached to it: the configuration's own while nothing is, another
 * one whenever a tool or the text of a knowledge source changes.
 */
export function hashWithAttachments(hash: string, { tools, knowledge }: Attachments): string {
  if (tools.length === 0 && knowledge.length === 0) return hash;
  const parts = tools.map((tool) => ({
    ...tool,
    headers: tool.headers.map((header) =>
      isCredential(header) ? { ...header, value: revisionOf(header.value) } : header,
    ),
  }));
  return hashOf({ config: hash, tools: parts, knowledge });
}

function hashOf(value: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`;
}
