import { lookup } from 'node:dns/promises';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { readSettings } from '../shared/config.ts';
import { createLogger } from '../shared/log.ts';
import { PARLEY_SETTING_NAMES } from '../shared/setting-names.ts';
import { systemClock } from '../shared/time.ts';
import { WorkerSettings } from './config.ts';
import type { LinkCertificates } from './coordination/link-credentials.ts';
import { DEFAULT_LIVENESS, type IngressSettings } from './ingress/ingress-settings.ts';
import { DEFAULT_WEBRTC_SETTINGS } from './transport/webrtc-settings.ts';
import { createWorker, type Worker } from './worker.ts';
import { createEngines } from './worker-engines.ts';

/** How long the first link to a control plane may take before the start counts as failed. */
const LINK_DEADLINE_MS = 60_000;

async function main(): Promise<void> {
  const settings = readSettings(WorkerSettings, process.env, PARLEY_SETTING_NAMES);
  const log = createLogger({
    name: 'media-worker',
    level: settings.PARLEY_LOG_LEVEL,
    withPii: settings.PARLEY_LOG_PII,
  });
  const engines = await createEngines(settings, systemClock, log, (line) =>
    process.stderr.write(`${line}\n`),
  );
  const worker = await createWorker({
    clock: systemClock,
    log,
    engines,
    ingress: ingressSettings(settings),
    speech: {
      maxTextCharacters: settings.TTS_MAX_TEXT_CHARACTERS,
      maxInFlight: settings.PARLEY_SPEECH_IN_FLIGHT,
      liveIdleMs: settings.TTS_LIVE_IDLE_S * 1000,
      phraseCacheBytes: settings.TTS_CACHE_BYTES,
      maxUploadBytes: settings.ASR_UPLOAD_MAX_BYTES,
      maxUploadS: settings.ASR_UPLOAD_MAX_S,
      recognitionsAtOnce: settings.ASR_UPLOAD_PARALLEL,
      ffmpeg: settings.PARLEY_FFMPEG,
    },
    capacity: settings.PARLEY_WORKER_CAPACITY,
    dataDir: settings.PARLEY_DATA_DIR,
    joinPublicPem: joinPublicPem(settings),
    controlAddresses: settings.PARLEY_CONTROL_ADDRESSES.split(',').map((address) => address.trim()),
    certificates: linkCertificates(settings),
    resolve: async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address),
    publicUrl: (port) => settings.PARLEY_WORKER_PUBLIC_URL.replace(/\/$/, '') || listenUrl(settings, port),
    version: '0.1.0',
  });
  stopOnSignals(worker, settings.PARLEY_STDIN_GUARD === '1');
  const { port } = await worker.start();
  const deadlineMs = systemClock.monotonicMs() + LINK_DEADLINE_MS;
  while (!worker.isLinked()) {
    if (systemClock.monotonicMs() > deadlineMs)
      throw new Error(`no control plane answers at ${settings.PARLEY_CONTROL_ADDRESSES}`);
    await systemClock.sleep(20);
  }
  process.stdout.write(`${JSON.stringify({ ready: true, port, recogniser: engines.asr.name })}\n`);
}

/**
 * SIGTERM drains: calls go on to their end. SIGINT, a second SIGTERM or a closed standard input ends them at once.
 * The process always leaves through `process.exit`: the WebRTC addon crashes on the way out otherwise.
 */
function stopOnSignals(worker: Worker, guardsStdin: boolean): void {
  let isStopping = false;
  let isDraining = false;
  const stopNow = () => {
    if (isStopping) return;
    isStopping = true;
    worker.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGINT', stopNow);
  process.on('SIGTERM', () => {
    if (isDraining) return stopNow();
    isDraining = true;
    void worker.drain().finally(stopNow);
  });
  if (guardsStdin) process.stdin.on('end', stopNow).on('error', stopNow).resume();
}

function ingressSettings(settings: WorkerSettings): IngressSettings {
  const { PARLEY_UDP_PORT_MIN: min, PARLEY_UDP_PORT_MAX: max, PARLEY_WORKER_HOST: host } = settings;
  return {
    server: {
      implementation: settings.PARLEY_SOCKET_SERVER,
      host,
      port: settings.PARLEY_WORKER_PORT,
      tls:
        settings.PARLEY_TLS_CERT === ''
          ? null
          : { certFile: settings.PARLEY_TLS_CERT, keyFile: settings.PARLEY_TLS_KEY },
    },
    webrtc: {
      ...DEFAULT_WEBRTC_SETTINGS,
      iceServers: JSON.parse(settings.PARLEY_ICE_SERVERS),
      relayOnly: settings.PARLEY_ICE_RELAY_ONLY,
      udpPortRange: min > 0 && max >= min ? { min, max } : null,
      advertisedAddresses: settings.PARLEY_ADVERTISED_ADDRESSES.split(',').filter(
        (address) => address.trim() !== '',
      ),
      boundToLoopback: host === 'localhost' || host === '::1' || host.startsWith('127.'),
      opusBitrateBps: settings.PARLEY_OPUS_BITRATE_BPS === 0 ? null : settings.PARLEY_OPUS_BITRATE_BPS,
    },
    liveness: DEFAULT_LIVENESS,
  };
}

function joinPublicPem(settings: WorkerSettings): string {
  const given = settings.PARLEY_JOIN_PUBLIC_KEY || join(settings.PARLEY_DATA_DIR, 'join-public-key.pem');
  if (given.startsWith('-----')) return given;
  if (!existsSync(given)) throw new Error(`PARLEY_JOIN_PUBLIC_KEY: no key at ${given}`);
  return readFileSync(given, 'utf8');
}

function linkCertificates(settings: WorkerSettings): LinkCertificates | null {
  const { PARLEY_GRPC_TLS_CA: ca, PARLEY_GRPC_TLS_CERT: cert, PARLEY_GRPC_TLS_KEY: key } = settings;
  if (ca === '' && cert === '' && key === '') return null;
  return {
    caPem: readFileSync(ca, 'utf8'),
    certPem: readFileSync(cert, 'utf8'),
    keyPem: readFileSync(key, 'utf8'),
  };
}

function listenUrl(settings: WorkerSettings, port: number): string {
  const host = settings.PARLEY_WORKER_HOST;
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : isIP(host) === 6 ? `[${host}]` : host;
  return `${settings.PARLEY_TLS_CERT === '' ? 'http' : 'https'}://${shown}:${port}`;
}

main().catch((error: unknown) => {
  process.stderr.write(`media worker: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
