import { describe, expect, test } from 'vitest';
import { fillTemplate, keepValidVariables, unknownSystemVariables } from './dynamic-variables.ts';

const system = {
  channel: 'web_voice',
  timezone: 'Europe/Berlin',
  today: '2026-02-03',
  language: 'en',
  caller_number: '',
  dialed_number: '+15550001111',
};

describe('placeholders', () => {
  test.each([
    ['a value is put in for its name', 'Hi {{name}}!', { name: 'Ana' }, 'Hi Ana!'],
    ['the same name is filled everywhere', '{{a}}-{{a}}', { a: 1 }, '1-1'],
    ['blanks inside the braces are tolerated', '{{ name }}', { name: 'Ana' }, 'Ana'],
    ['numbers and booleans become text', '{{n}} {{b}}', { n: 1.5, b: false }, '1.5 false'],
    ['a name without a value stays as written', 'Hi {{ name }}!', {}, 'Hi {{ name }}!'],
    [
      'a value is not looked into again',
      '{{a}}',
      { a: '{{b}} {{system.today}}', b: 'x' },
      '{{b}} {{system.today}}',
    ],
    ['a dollar sign in a value is nothing special', '{{a}}', { a: '$& $1' }, '$& $1'],
    ['inherited names are no values', '{{constructor}}', {}, '{{constructor}}'],
    [
      'system values are filled in',
      '{{system.today}} {{system.dialed_number}}',
      {},
      '2026-02-03 +15550001111',
    ],
    ['an empty system value leaves nothing', '[{{system.caller_number}}]', {}, '[]'],
    ['an unknown system name stays as written', '{{system.now}}', {}, '{{system.now}}'],
    ['what is no name is left alone', '{{1a}} {{}} {a} {{a b}}', { a: 1 }, '{{1a}} {{}} {a} {{a b}}'],
  ])('%s', (_sentence, template, variables, filled) => {
    expect(fillTemplate(template, variables as Record<string, string>, system)).toBe(filled);
  });

  test('unknown system names are found, each once', () => {
    const template =
      '{{system.now}} {{ system.session_id }} {{system.now}} {{system.today}} {{now}} {{system.}}';
    expect(unknownSystemVariables(template)).toEqual(['system.now', 'system.session_id', 'system.']);
  });
});

test('of entries that cannot be refused, those that break a rule are dropped one by one', () => {
  const kept = keepValidVariables({
    name: 'Ana',
    '1st': 'x',
    'a-b': 'x',
    list: [1],
    none: null,
    long: 'x'.repeat(1001),
    emoji: '😀'.repeat(1000),
    age: 7,
    vip: true,
  });
  expect(Object.keys(kept)).toEqual(['name', 'emoji', 'age', 'vip']);
});

test('at most 50 entries are read', () => {
  const entries = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`v${i}`, i]));
  expect(Object.keys(keepValidVariables(entries))).toHaveLength(50);
});
