import { expect, test } from 'vitest';
import { readSettings } from '../shared/config.ts';
import { PARLEY_SETTING_NAMES } from '../shared/setting-names.ts';
import { ControlPlaneSettings } from './config.ts';

test('every setting has a description and a default', () => {
  for (const [name, schema] of Object.entries(ControlPlaneSettings.properties)) {
    expect(schema, name).toHaveProperty('description', expect.stringMatching(/.{10,}/));
    expect(schema, name).toHaveProperty('default');
  }
});

test('the neighbours know every PARLEY_ setting of the control plane', () => {
  const names = Object.keys(ControlPlaneSettings.properties).filter((name) => name.startsWith('PARLEY_'));

  expect(PARLEY_SETTING_NAMES).toEqual(expect.arrayContaining(names));
  expect(PARLEY_SETTING_NAMES.toSorted()).toEqual(PARLEY_SETTING_NAMES);
});

test('without any setting it listens on loopback alone', () => {
  const settings = readSettings(ControlPlaneSettings, {});

  expect(settings).toMatchObject({
    PARLEY_HOST: '127.0.0.1',
    PARLEY_PORT: 8080,
    PARLEY_GRPC_ADDRESS: '127.0.0.1:8082',
    PARLEY_ADMIN_ADDRESS: '127.0.0.1:8083',
    PARLEY_LOG_PII: false,
  });
});

test('settings of the worker in the same environment are no mistake', () => {
  expect(() =>
    readSettings(ControlPlaneSettings, { PARLEY_WORKER_PORT: '1' }, PARLEY_SETTING_NAMES),
  ).not.toThrow();
});
