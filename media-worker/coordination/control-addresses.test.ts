import { expect, test } from 'vitest';
import { listControlAddresses } from './control-addresses.ts';

test('a name stands for all its addresses, and keeps its name for the certificate', async () => {
  const resolve = async (hostname: string) => {
    if (hostname === 'gone.test') throw new Error('no such host');
    return ['10.0.0.1', 'fd00::1'];
  };

  const addresses = await listControlAddresses(
    ['control.test:8082', '127.0.0.1:8082', '[::1]:8082', 'gone.test:1', '10.0.0.1:8082'],
    resolve,
  );

  expect(addresses).toEqual([
    { target: '10.0.0.1:8082', serverName: null },
    { target: '[fd00::1]:8082', serverName: 'control.test' },
    { target: '127.0.0.1:8082', serverName: null },
    { target: '[::1]:8082', serverName: null },
    { target: 'gone.test:1', serverName: null },
  ]);
});
