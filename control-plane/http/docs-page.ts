import type { Middleware } from 'koa';
import { inMemory, onDisk, PAGE_HEADERS, type StaticFile, serveFiles } from './static-files.ts';

const BASE = '/docs';
const VIEWER = 'node_modules/swagger-ui-dist';

/** Only own files run and style the page, and it may ask this service alone. The viewer's icons are data URLs. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Parley API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${BASE}/viewer.css">
  </head>
  <body>
    <main id="reference"></main>
    <noscript>This page needs JavaScript. The description itself is at /openapi.json.</noscript>
    <script src="${BASE}/viewer.js"></script>
    <script src="${BASE}/page.js"></script>
  </body>
</html>
`;

// No validator badge and no remote configuration: the page talks to nobody else.
const SCRIPT = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  queryConfigEnabled: false,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: false,
  syntaxHighlight: { theme: 'agate' },
});
`;

/** The API reference under `/docs`: a page that shows `/openapi.json`, with a viewer served from here. */
export function serveDocs(): Middleware {
  const page = inMemory('text/html; charset=utf-8', Buffer.from(PAGE));
  const files = new Map<string, StaticFile>([
    [BASE, page],
    [`${BASE}/`, page],
    [`${BASE}/page.js`, inMemory('text/javascript; charset=utf-8', Buffer.from(SCRIPT))],
    [`${BASE}/viewer.js`, onDisk(`${VIEWER}/swagger-ui-bundle.js`)],
    [`${BASE}/viewer.css`, onDisk(`${VIEWER}/swagger-ui.css`)],
  ]);
  return serveFiles(files, { ...PAGE_HEADERS, 'Content-Security-Policy': CONTENT_SECURITY_POLICY });
}
