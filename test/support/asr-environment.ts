import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareRecogniser } from '../../media-worker/asr/engines/pocketsphinx/python-environment.ts';
import { projectFile } from '../../shared/project-file.ts';

/** Data directory of the tests' own recogniser: made by the first test that needs it, kept between runs. */
const DATA_DIR = 'node_modules/.cache/parley/asr';
const PREPARE_DEADLINE_MS = 120_000;

/** Gives a data directory the tests' recogniser, so that a service started there needn't prepare its own. */
export async function lendRecogniser(dataDir: string): Promise<void> {
  await asrPython();
  await symlink(projectFile(`${DATA_DIR}/asr-venv`), join(dataDir, 'asr-venv'));
}

/** Path of a Python with PocketSphinx. Throws, with the reason, where it can't be prepared. */
export async function asrPython(): Promise<string> {
  const prepared = await prepareRecogniser({
    dataDir: projectFile(DATA_DIR),
    python: 'python3',
    onProgress: () => {},
    signal: AbortSignal.timeout(PREPARE_DEADLINE_MS),
  });
  if ('missing' in prepared) throw new Error(prepared.missing);
  return prepared.pythonPath;
}
