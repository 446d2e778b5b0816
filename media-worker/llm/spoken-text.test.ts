import { expect, test } from 'vitest';
import { spokenText } from './spoken-text.ts';

test.each([
  ['**Bold** and *thin* and _leaning_ and `code`', 'Bold and thin and leaning and code'],
  ['# Title', 'Title'],
  ['- one item', 'one item'],
  ['See [our page](https://example.com/a_(b)) now', 'See our page now'],
  ['Great! 🎉👍🏽 See you 🇩🇪', 'Great! See you'],
  ['  a \n b\tc ', 'a b c'],
  ['3 * 4 = 12', '3 * 4 = 12'],
  ['snake_case_name stays', 'snake_case_name stays'],
  ['-5 degrees, $4.20, 50%', '-5 degrees, $4.20, 50%'],
  ['你好！', '你好！'],
])('%s is spoken as "%s"', (written, spoken) => {
  expect(spokenText(written)).toBe(spoken);
});

test.each(['', ' … ', '---', '🎉', '***'])('"%s" has nothing to speak', (written) => {
  expect(spokenText(written)).toBe('');
});
