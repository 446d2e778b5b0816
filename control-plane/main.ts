import { readFileSync } from 'node:fs';
import { InvalidSettings, readSettings } from '../shared/config.ts';
import { createLogger } from '../shared/log.ts';
import { resolveWithSystem } from '../shared/outgoing/system-resolver.ts';
import { PARLEY_SETTING_NAMES } from '../shared/setting-names.ts';
import { systemClock } from '../shared/time.ts';
import { localUrl } from './addresses.ts';
import { prepareFirstStart } from './admin/first-start.ts';
import { openLocalKeys } from './admin/local-keys.ts';
import { createApp } from './app.ts';
import { ControlPlaneSettings } from './config.ts';
import { CoordinationUnavailable } from './coordination/coordination.ts';
import { MemoryCoordination } from './coordination/memory-coordination.ts';
import { openRedisCoordination } from './coordination/redis-coordination.ts';
import { AddressUnavailable } from './http/http-server.ts';
import { openStore } from './open-store.ts';
import { StoreUnavailable } from './storage/collection.ts';
import { NewerSchema } from './storage/migrate.ts';
import { newApiKey } from './workspaces/api-key.ts';

/** Past this the process ends, whatever is still running. */
const STOP_DEADLINE_MS = 12_000;

/** Starts the control plane; answers the function that stops it. */
async function run(): Promise<() => Promise<void>> {
  const settings = readSettings(ControlPlaneSettings, process.env, PARLEY_SETTING_NAMES);
  const clock = systemClock;
  const log = createLogger({
    name: 'control-plane',
    level: settings.PARLEY_LOG_LEVEL,
    withPii: settings.PARLEY_LOG_PII,
  });
  const files = readCertificates(settings);
  const keys = openLocalKeys(settings);
  const store = await openStore(settings, clock, log);
  const coordination =
    settings.REDIS_URL === ''
      ? new MemoryCoordination(clock)
      : await openRedisCoordination({ url: settings.REDIS_URL, log, clock });
  const app = createApp(settings, {
    store,
    coordination,
    ...keys,
    ...files,
    resolveHost: resolveWithSystem,
    clock,
    log,
  });

  async function stop(): Promise<void> {
    await app.stop();
    await coordination.close();
    await store.close();
  }

  try {
    const addresses = await app.start();
    if (settings.MONGO_URL === '') {
      const { firstAccount, charging } = app.accounts;
      await prepareFirstStart({
        dataDir: settings.PARLEY_DATA_DIR,
        hasWorkspaces: firstAccount.hasWorkspaces,
        isUnfinished: firstAccount.isUnfinished,
        newApiKey: () => newApiKey().apiKey,
        createAccount: firstAccount.create,
        addCredit: charging.addCredit,
        log,
      });
    }
    const scheme = settings.PARLEY_TLS_CERT === '' ? 'http' : 'https';
    const base_url =
      settings.PARLEY_PUBLIC_URL.replace(/\/$/, '') || localUrl(scheme, settings.PARLEY_HOST, addresses.port);
    log.info({ base_url, ...addresses }, 'control plane is ready');
    process.stdout.write(`${JSON.stringify({ ready: true, base_url, ...addresses })}\n`);
    return stop;
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
}

/** TLS needs both of its files, the link all three: half a setting would be silently insecure. */
function readCertificates(settings: ControlPlaneSettings) {
  const { PARLEY_TLS_CERT: cert, PARLEY_TLS_KEY: key } = settings;
  const { PARLEY_GRPC_TLS_CA: ca, PARLEY_GRPC_TLS_CERT: linkCert, PARLEY_GRPC_TLS_KEY: linkKey } = settings;
  if ((cert === '') !== (key === '')) {
    throw new InvalidSettings(['PARLEY_TLS_CERT and PARLEY_TLS_KEY: give both or neither']);
  }
  const given = [ca, linkCert, linkKey].filter((path) => path !== '').length;
  if (given !== 0 && given !== 3) {
    throw new InvalidSettings([
      'PARLEY_GRPC_TLS_CA, PARLEY_GRPC_TLS_CERT and PARLEY_GRPC_TLS_KEY: give all or none',
    ]);
  }
  return {
    tls: cert === '' ? null : { cert: readPem('PARLEY_TLS_CERT', cert), key: readPem('PARLEY_TLS_KEY', key) },
    linkCertificates:
      given === 0
        ? null
        : {
            caPem: readPem('PARLEY_GRPC_TLS_CA', ca),
            certPem: readPem('PARLEY_GRPC_TLS_CERT', linkCert),
            keyPem: readPem('PARLEY_GRPC_TLS_KEY', linkKey),
          },
  };
}

function readPem(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new InvalidSettings([`${setting}: ${error instanceof Error ? error.message : 'is not readable'}`]);
  }
}

/** One line for what an operator can mend; the whole error for everything else. */
function describe(error: unknown): string {
  if (error instanceof InvalidSettings || error instanceof AddressUnavailable) return error.message;
  if (error instanceof NewerSchema) return error.message;
  if (error instanceof StoreUnavailable) return 'the store did not answer; see MONGO_URL';
  if (error instanceof CoordinationUnavailable) return 'Redis did not answer; see REDIS_URL';
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

let isStopping = false;
const running = run();

function end(code: number): void {
  if (isStopping) return;
  isStopping = true;
  setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
  running
    .then((stop) => stop())
    .then(
      () => process.exit(code),
      () => process.exit(1),
    );
}

process.once('SIGTERM', () => end(0));
process.once('SIGINT', () => end(0));
if (process.env['PARLEY_STDIN_GUARD'] === '1') {
  process.stdin.resume();
  process.stdin.once('end', () => end(0)).once('error', () => end(0));
}
running.catch((error: unknown) => {
  process.stderr.write(`${describe(error)}\n`);
  process.exit(1);
});
