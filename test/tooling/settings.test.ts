import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ControlPlaneSettings } from '../../control-plane/config.ts';
import { sampleSettings } from '../../deploy/settings-text.ts';
import { WorkerSettings } from '../../media-worker/config.ts';
import { projectFile } from '../../shared/project-file.ts';
import { PARLEY_SETTING_NAMES } from '../../shared/setting-names.ts';

test('the sample settings list every setting with its default and consequence', () => {
  expect(readFileSync(projectFile('deploy/settings.sample.env'), 'utf8')).toBe(sampleSettings());
});

test('every setting says what changes with it', () => {
  for (const schema of [ControlPlaneSettings, WorkerSettings]) {
    for (const [name, field] of Object.entries(
      schema.properties as Record<string, { description?: string }>,
    )) {
      expect(field.description?.length, name).toBeGreaterThan(8);
    }
  }
});

test('each process knows the names of the other one’s settings', () => {
  const names = [...Object.keys(ControlPlaneSettings.properties), ...Object.keys(WorkerSettings.properties)];
  expect([...PARLEY_SETTING_NAMES].sort()).toEqual(
    [...new Set(names.filter((name) => name.startsWith('PARLEY_')))].sort(),
  );
});
