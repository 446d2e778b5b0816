import { InvalidSettings, readSettings } from '../../shared/config.ts';
import { Failure } from '../../shared/errors.ts';
import { createLogger } from '../../shared/log.ts';
import { PARLEY_SETTING_NAMES } from '../../shared/setting-names.ts';
import { systemClock } from '../../shared/time.ts';
import { createAccounts } from '../accounts.ts';
import { ControlPlaneSettings } from '../config.ts';
import { openStore } from '../open-store.ts';
import { formatOutput, readCommandLine, UsageError } from './command-line.ts';
import { adminCommands } from './commands.ts';
import { openLocalKeys } from './local-keys.ts';

const EXIT_REFUSED = 1;
const EXIT_USAGE = 2;

/** The administrator's command line: works on the store that the settings name, also while the server runs. */
async function run(argv: readonly string[]): Promise<void> {
  const { command, input, isJson } = readCommandLine(argv, adminCommands());
  const settings = readSettings(ControlPlaneSettings, process.env, PARLEY_SETTING_NAMES);
  const log = createLogger({ name: 'admin', level: 'warn', withPii: false });
  const { masterKeys } = openLocalKeys(settings);
  const store = await openStore(settings, systemClock);
  try {
    const accounts = createAccounts({ store, masterKeys, clock: systemClock, log });
    await accounts.ensureIndexes();
    process.stdout.write(`${formatOutput(await command.run(input, accounts), isJson)}\n`);
  } finally {
    await store.close();
  }
}

run(process.argv.slice(2)).catch((error: unknown) => {
  const isUsage = error instanceof UsageError;
  const isPlain = isUsage || error instanceof Failure || error instanceof InvalidSettings;
  process.stderr.write(`${isPlain ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = isUsage ? EXIT_USAGE : EXIT_REFUSED;
});
