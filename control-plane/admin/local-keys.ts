import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidSettings } from '../../shared/config.ts';
import { joinPublicPem } from '../../shared/join-token.ts';
import { type NamedKey, parseKeyList } from '../../shared/secret-box.ts';
import type { ControlPlaneSettings } from '../config.ts';
import { keptFile } from './kept-file.ts';

/** The keys that everything secret hangs on. */
export interface LocalKeys {
  /** The first seals and hashes, all of them open and check. */
  readonly masterKeys: readonly NamedKey[];
  /** Ed25519, PKCS #8. */
  readonly joinPrivatePem: string;
}

export const SECRET_KEY_FILE = 'secret-key';
export const JOIN_PRIVATE_FILE = 'join-private-key.pem';
/** Where a worker on the same machine finds what it checks join tokens with. */
export const JOIN_PUBLIC_FILE = 'join-public-key.pem';

type KeySettings = Pick<
  ControlPlaneSettings,
  'PARLEY_DATA_DIR' | 'PARLEY_SECRET_KEY' | 'PARLEY_JOIN_PRIVATE_KEY' | 'MONGO_URL'
>;

/**
 * The keys of the settings; those not given are made once in the data directory, readable by their owner alone. With
 * a shared store they must be given, or replicas would each have their own. Throws `InvalidSettings`.
 */
export function openLocalKeys(settings: KeySettings): LocalKeys {
  const {
    PARLEY_DATA_DIR: dataDir,
    PARLEY_SECRET_KEY: secretKey,
    PARLEY_JOIN_PRIVATE_KEY: joinKey,
  } = settings;
  if (settings.MONGO_URL !== '') refuseMissing(settings);
  const masterText = secretKey || keptFile(dataDir, SECRET_KEY_FILE, newMasterKey);
  const joinPrivatePem = joinKey ? readPem(joinKey) : keptFile(dataDir, JOIN_PRIVATE_FILE, newJoinKey);
  const masterKeys = orInvalid('PARLEY_SECRET_KEY', () => parseKeyList(masterText.trim()));
  const publicPem = orInvalid('PARLEY_JOIN_PRIVATE_KEY', () => joinPublicPem(joinPrivatePem));
  keepPublicKey(dataDir, publicPem);
  return { masterKeys, joinPrivatePem };
}

function refuseMissing(settings: KeySettings): void {
  const problems = [
    settings.PARLEY_SECRET_KEY === '' && 'PARLEY_SECRET_KEY: needed with MONGO_URL (openssl rand -base64 32)',
    settings.PARLEY_JOIN_PRIVATE_KEY === '' &&
      'PARLEY_JOIN_PRIVATE_KEY: needed with MONGO_URL (openssl genpkey -algorithm ed25519)',
  ].filter((problem) => problem !== false);
  if (problems.length > 0) throw new InvalidSettings(problems);
}

function readPem(pemOrFile: string): string {
  if (pemOrFile.includes('-----BEGIN')) return pemOrFile.replaceAll('\\n', '\n');
  return orInvalid('PARLEY_JOIN_PRIVATE_KEY', () => readFileSync(pemOrFile, 'utf8'));
}

function keepPublicKey(dataDir: string, publicPem: string): void {
  const file = join(dataDir, JOIN_PUBLIC_FILE);
  try {
    if (existsSync(file) && readFileSync(file, 'utf8') === publicPem) return;
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(file, publicPem, { mode: 0o644 });
  } catch {
    // Without a writable data directory workers are given the key by their own settings.
  }
}

function newMasterKey(): string {
  return `${randomBytes(32).toString('base64')}\n`;
}

function newJoinKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function orInvalid<T>(setting: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    // The text of a parser's error may hold a piece of the key; ours and the file system's don't.
    const isOurs = error instanceof Error && (error.message.startsWith('key ') || 'syscall' in error);
    throw new InvalidSettings([
      `${setting}: ${isOurs ? error.message : 'is not an Ed25519 key in PKCS #8 PEM'}`,
    ]);
  }
}
