import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { projectFile } from '../shared/project-file.ts';

/** Native code we ship by reference, as it was when it was reviewed. Another build must be looked at before it runs. */
const REVIEWED: Readonly<Record<string, string>> = {
  'uws_linux_x64_115.node': '6f8d96d761a64beddb060f1f7f0e617dd293ed127ec1d57507aa561a0083171e',
  'uws_linux_x64_127.node': '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af',
};

for (const [name, sha256] of Object.entries(REVIEWED)) {
  const file = projectFile(`node_modules/uWebSockets.js/dist/bin/${name}`);
  const actual = existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : 'missing';
  if (actual !== sha256) {
    process.stderr.write(`${name}: ${actual}, expected ${sha256}\n`);
    process.exitCode = 1;
  }
}
