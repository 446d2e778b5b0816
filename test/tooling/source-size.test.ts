import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { projectFile } from '../../shared/project-file.ts';

test('no hand-written source file is longer than 400 lines', () => {
  const long: string[] = [];
  for (const folder of ['control-plane', 'media-worker', 'shared', 'deploy', 'test']) {
    for (const name of readdirSync(projectFile(folder), { recursive: true, encoding: 'utf8' })) {
      const isSource =
        /\.(ts|c|py|css|html)$/.test(name) && !/\.test\.ts$/.test(name) && !name.startsWith('generated/');
      if (isSource && readFileSync(projectFile(`${folder}/${name}`), 'utf8').split('\n').length > 401)
        long.push(name);
    }
  }
  expect(long).toEqual([]);
});
