import { describe, expect, test } from 'vitest';
import { fillBodyTemplate, fillUrlTemplate, UnusableArguments } from './tool-template.ts';

const from = (values: Record<string, unknown>) => (name: string) => values[name];

describe('a URL', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['https://a.example/{{x}}', { x: 'a b' }, 'https://a.example/a%20b'],
    ['https://a.example/{{ x }}', { x: 7 }, 'https://a.example/7'],
    ['https://a.example/?o={{o}}', { o: { a: 1 } }, 'https://a.example/?o=%7B%22a%22%3A1%7D'],
    ['https://a.example/?n={{n}}&y={{y}}', { n: null, y: false }, 'https://a.example/?n=&y=false'],
    ['https://a.example/{{gone}}', {}, 'https://a.example/{{gone}}'],
    ['https://a.example/{{x}}', { x: '{{y}}', y: 'no' }, 'https://a.example/%7B%7By%7D%7D'],
    ['https://a.example/{{x}}', { x: '\ud800' }, 'https://a.example/%EF%BF%BD'],
    ['https://a.example/../{{x}}', { x: 'ok' }, 'https://a.example/../ok'],
    ['https://a.example/{{x}}?p={{x}}', { x: '...' }, 'https://a.example/...?p=...'],
    ['https://a.example/x?p={{x}}', { x: '..' }, 'https://a.example/x?p=..'],
  ])('%s with %j is %s', (template, values, filled) => {
    expect(fillUrlTemplate(template, from(values))).toBe(filled);
  });

  test.each<[string, Record<string, unknown>]>([
    ['https://a.example/{{x}}/b', { x: '..' }],
    ['https://a.example/{{x}}', { x: '.' }],
    ['https://a.example/.{{x}}/b', { x: '.' }],
    ['https://a.example/%2e{{x}}/b', { x: '.' }],
    ['https://a.example/{{x}}{{x}}/b', { x: '.' }],
    ['https://a.example/c\\{{x}}\\b', { x: '..' }],
    ['https://a.example/.{{x}}/b', { x: '' }],
  ])('%s is refused with %j: it would climb', (template, values) => {
    expect(() => fillUrlTemplate(template, from(values))).toThrow(UnusableArguments);
  });

  test('no value reaches host, query or fragment from a path segment', () => {
    for (const x of [
      '/evil.example',
      '@evil.example',
      '?a=b',
      '#f',
      '\\\\evil',
      ':8080',
      'a;b',
      '\r\nX: y',
    ]) {
      const url = new URL(fillUrlTemplate('https://a.example/p/{{x}}/q', from({ x })));
      expect(url.host).toBe('a.example');
      expect(url.search + url.hash).toBe('');
      expect(url.pathname.split('/')).toHaveLength(4);
    }
  });
});

describe('a JSON body', () => {
  test.each<[string, Record<string, unknown>, unknown]>([
    ['{"a":"{{x}}"}', { x: 'q"\\\n\u0001' }, { a: 'q"\\\n\u0001' }],
    ['{"a":{{x}}}', { x: 'q"' }, { a: 'q"' }],
    ['{"a":{{x}}}', { x: { b: [null] } }, { a: { b: [null] } }],
    ['{"a":"n={{x}}"}', { x: 3 }, { a: 'n=3' }],
    ['{"a":"{{x}}","b":{{x}}}', { x: null }, { a: '', b: null }],
    ['{"a":"o={{x}}"}', { x: { b: '"' } }, { a: 'o={"b":"\\""}' }],
    ['{"k\\"{{x}}":{{x}}}', { x: 1 }, { 'k"1': 1 }],
    ['{{x}}', { x: [1, 2] }, [1, 2]],
  ])('%s with %j', (template, values, expected) => {
    expect(JSON.parse(fillBodyTemplate(template, 'application/json; charset=utf-8', from(values)))).toEqual(
      expected,
    );
  });

  test('of a type that ends in +json is JSON as well', () => {
    expect(fillBodyTemplate('{{x}}', 'application/ld+json', from({ x: 'a' }))).toBe('"a"');
    expect(fillBodyTemplate('{{x}}', 'application/xml', from({ x: 'a' }))).toBe('a');
  });
});

test('a template of braces without end is read in good time', () => {
  const template = '{{ '.repeat(33_000);
  expect(fillBodyTemplate(template, 'text/plain', () => 'x')).toBe(template);
});
