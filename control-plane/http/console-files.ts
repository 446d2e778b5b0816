import { readdirSync } from 'node:fs';
import type { Middleware } from 'koa';
import { SYSTEM_PROMPT_MAX } from '../../shared/agent-config.ts';
import { BUILTIN_VOICES } from '../../shared/builtin-voices.ts';
import { LANGUAGES } from '../../shared/language.ts';
import { projectFile } from '../../shared/project-file.ts';
import { inMemory, JSON_TYPE, onDisk, PAGE_HEADERS, type StaticFile, serveFiles } from './static-files.ts';

const BASE = '/console';
const PAGE_FILES = ['base.css', 'shell.css', 'pages.css', 'forms.css', 'talk.css', 'icon.svg'];
/** Compiled modules, at most one folder deep. */
const MODULE_NAME = /^(?:[a-z][a-z0-9-]*\/)?[a-z][a-z0-9-]*\.js$/;

/**
 * Only own files run and style the page. Calls go to whatever worker a session names, so that any host may be
 * connected to.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self' blob:",
  "connect-src 'self' ws: wss: http: https:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  ...PAGE_HEADERS,
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Permissions-Policy': 'microphone=(self), camera=(), geolocation=()',
};

/**
 * The web console under `/console`: its page, its compiled modules and the room client. Answers a fixed set of paths,
 * listed once at the start, and hands everything else on. Files are kept in memory and read again when they change.
 */
export function serveConsole(): Middleware {
  return serveFiles(listFiles(), HEADERS);
}

function listFiles(): ReadonlyMap<string, StaticFile> {
  const page = onDisk('control-plane/console/index.html');
  const files = new Map<string, StaticFile>([
    [BASE, page],
    [`${BASE}/`, page],
    [`${BASE}/choices.json`, inMemory(JSON_TYPE, choices())],
    [`${BASE}/vendor/livekit-client.js`, onDisk('node_modules/livekit-client/dist/livekit-client.esm.mjs')],
  ]);
  for (const name of PAGE_FILES) files.set(`${BASE}/${name}`, onDisk(`control-plane/console/${name}`));
  for (const name of moduleNames())
    files.set(`${BASE}/${name}`, onDisk(`dist/control-plane/console/${name}`));
  return files;
}

/** None when the console was not compiled: the page is then empty, and the service runs all the same. */
function moduleNames(): string[] {
  try {
    return readdirSync(projectFile('dist/control-plane/console'), { recursive: true, encoding: 'utf8' })
      .map((name) => name.replaceAll('\\', '/'))
      .filter((name) => MODULE_NAME.test(name));
  } catch {
    return [];
  }
}

/** What the console's lists offer. */
function choices(): Buffer {
  const voices = BUILTIN_VOICES.map(({ id, name, language }) => ({ id, name, language }));
  return Buffer.from(JSON.stringify({ languages: LANGUAGES, voices, system_prompt_max: SYSTEM_PROMPT_MAX }));
}
