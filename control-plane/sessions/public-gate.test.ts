import { expect, test } from 'vitest';
import { refuseUnlessPublic } from './public-gate.ts';

const refusal = (isPublic: boolean, allowedOrigins: string[], origin: string | null): string | null => {
  try {
    refuseUnlessPublic({ isPublic, allowedOrigins }, origin);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

test.each([
  ['https://a.example', 'https://a.example', null],
  ['https://a.example/', 'https://a.example', null],
  ['https://A.Example', 'https://a.EXAMPLE', null],
  ['https://a.example:443', 'https://a.example', null],
  ['https://a.example:8443', 'https://a.example:8443', null],
  ['capacitor://localhost', 'capacitor://LOCALHOST', null],
  ['https://a.example', 'http://a.example', 'Origin not allowed'],
  ['https://a.example', 'https://a.example:8443', 'Origin not allowed'],
  ['https://a.example', 'https://b.a.example', 'Origin not allowed'],
  ['http://localhost:3000', 'http://127.0.0.1:3000', 'Origin not allowed'],
  ['https://a.example', 'https://a.example.evil.example', 'Origin not allowed'],
  ['https://a.example', 'null', 'Origin not allowed'],
  ['https://a.example', 'garbage', 'Origin not allowed'],
  ['https://a.example', 'https://a.example/path', 'Origin not allowed'],
])('with %s allowed, %s gets %s', (allowed, origin, expected) => {
  expect(refusal(true, [allowed], origin)).toBe(expected);
});

test('a switched-off agent refuses whatever the origin', () => {
  expect(refusal(false, ['https://a.example'], 'https://a.example')).toBe('Agent is not public');
});

test('without an Origin nobody is let in', () => {
  expect(refusal(true, ['https://a.example'], null)).toBe('Origin header is required for public agents');
});

test('an agent that allows no origin allows none', () => {
  expect(refusal(true, [], 'https://a.example')).toBe('Origin not allowed');
});
