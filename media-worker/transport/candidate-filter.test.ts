import { expect, test } from 'vitest';
import { createCandidateFilter, isUdpCandidate } from './candidate-filter.ts';

const LOCAL = ['127.0.0.1', '::1', '10.0.0.5', '192.168.1.9', 'fd12::5'];

function host(address: string): string {
  return `candidate:1 1 udp 2122260223 ${address} 50000 typ host generation 0`;
}

/** The addresses under which a host candidate of each local address is shown. */
function shown(options: { advertised?: string[]; boundToLoopback?: boolean }): Record<string, string[]> {
  const filter = createCandidateFilter({
    advertisedAddresses: options.advertised ?? [],
    boundToLoopback: options.boundToLoopback ?? false,
    localAddresses: LOCAL,
  });
  const seen = LOCAL.map((address) => [address, filter(host(address)).map((line) => line.split(' ')[4])]);
  return Object.fromEntries(seen.filter(([, list]) => list?.length !== 0));
}

test('by default every address is shown but loopback', () => {
  expect(Object.keys(shown({}))).toEqual(['10.0.0.5', '192.168.1.9', 'fd12::5']);
});

test('loopback too when the server is bound to it', () => {
  expect(Object.keys(shown({ boundToLoopback: true }))).toEqual(LOCAL);
});

test('an advertised address of the machine is shown alone', () => {
  expect(shown({ advertised: ['192.168.1.9'], boundToLoopback: true })).toEqual({
    '192.168.1.9': ['192.168.1.9'],
  });
});

test('a public address in front of the machine stands for every address of its family', () => {
  expect(shown({ advertised: ['203.0.113.7'] })).toEqual({
    '10.0.0.5': ['203.0.113.7'],
    '192.168.1.9': ['203.0.113.7'],
  });
});

test('a pair names the one address that the public one leads to', () => {
  expect(shown({ advertised: ['203.0.113.7/10.0.0.5', '10.0.0.5'] })).toEqual({
    '10.0.0.5': ['203.0.113.7', '10.0.0.5'],
  });
});

test('only the address changes', () => {
  const filter = createCandidateFilter({
    advertisedAddresses: ['203.0.113.7'],
    boundToLoopback: false,
    localAddresses: LOCAL,
  });

  expect(filter(host('10.0.0.5'))).toEqual([host('203.0.113.7')]);
});

test('relayed and reflexive candidates always pass', () => {
  const filter = createCandidateFilter({
    advertisedAddresses: ['192.168.1.9'],
    boundToLoopback: false,
    localAddresses: LOCAL,
  });
  const relay = 'candidate:1 1 udp 1 198.51.100.1 3478 typ relay raddr 10.0.0.5 rport 5';

  expect(filter(relay)).toEqual([relay]);
  expect(filter('candidate:nonsense')).toEqual([]);
});

test.each(['example.test', '203.0.113.7/fd12::5', '1.2.3'])('%s is no address to advertise', (advertised) => {
  expect(() => shown({ advertised: [advertised] })).toThrow(RangeError);
});

test('UDP is told from TCP', () => {
  expect(isUdpCandidate(host('10.0.0.5'))).toBe(true);
  expect(isUdpCandidate('candidate:1 1 tcp 1 10.0.0.5 9 typ host tcptype active')).toBe(false);
});
