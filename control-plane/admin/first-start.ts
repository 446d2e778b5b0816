import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '../../shared/ids.ts';
import type { Logger } from '../../shared/log.ts';
import { keptFile } from './kept-file.ts';

/** The one file that holds an API key in the clear: what the first start made, for copy and paste. */
export const API_KEY_FILE = 'api-key.json';
const FIRST_CREDIT_MICROS = 100_000_000;

/** As the file has it. */
export interface FirstAccount {
  readonly api_key: string;
  readonly workspace_id: string;
  readonly user_id: string;
}

/** What the first start needs of accounts and wallet. */
export interface FirstStartDeps {
  readonly dataDir: string;
  readonly hasWorkspaces: () => Promise<boolean>;
  /** True when the account's workspace is there and its key is not. */
  readonly isUnfinished: (account: FirstAccount) => Promise<boolean>;
  readonly newApiKey: () => string;
  /** Workspace `default`, its owner and that key, with beta access. Finishes what is there already. */
  readonly createAccount: (account: FirstAccount) => Promise<void>;
  readonly addCredit: (userId: string, amountMicros: number, creditId: string) => Promise<void>;
  readonly log: Logger;
}

/**
 * Gives an empty embedded store a workspace, a user, and an API key with beta access and 100.00 of credit. The file
 * comes first, so that a start that died halfway is finished by the next one, with the same key. A store with
 * workspaces of its own is left alone.
 */
export async function prepareFirstStart(deps: FirstStartDeps): Promise<void> {
  const { dataDir, log } = deps;
  const file = join(dataDir, API_KEY_FILE);
  const kept = existsSync(file) ? readAccount(readFileSync(file, 'utf8')) : null;
  const isUnfinished = kept !== null && (await deps.isUnfinished(kept));
  if (!isUnfinished && (await deps.hasWorkspaces())) return;
  const fresh = () => ({ api_key: deps.newApiKey(), workspace_id: newId(), user_id: newId() });
  const account =
    kept ?? readAccount(keptFile(dataDir, API_KEY_FILE, () => `${JSON.stringify(fresh(), null, 2)}\n`));
  if (!account) throw new Error(`${file} is not usable; remove it to get a new API key`);
  await deps.addCredit(account.user_id, FIRST_CREDIT_MICROS, `first_start_${account.user_id}`);
  await deps.createAccount(account);
  log.info({ workspaceId: account.workspace_id, file }, 'first start: workspace, user and API key were made');
}

function readAccount(text: string): FirstAccount | null {
  try {
    const { api_key, workspace_id, user_id } = JSON.parse(text);
    const isWhole = [api_key, workspace_id, user_id].every((value) => typeof value === 'string');
    return isWhole ? { api_key, workspace_id, user_id } : null;
  } catch {
    return null;
  }
}
