import { describe, expect, test } from 'vitest';
import { destinationProblem, readE164 } from './destination.ts';

test.each([
  ['+14155550100', '+14155550100'],
  ['+4930123456', '+4930123456'],
  ['+810312345678', '+81312345678'],
  ['+81312345678', '+81312345678'],
  ['+8109012345678', '+819012345678'],
  ['+1234567', '+1234567'],
  ['+123456789012345', '+123456789012345'],
  ['+123456', null],
  ['+1234567890123456', null],
  ['+0123456789', null],
  ['14155550100', null],
  ['0014155550100', null],
  ['+1-415-555-0100', null],
  [' +14155550100', null],
  ['+14155550100\n', null],
  ['+1415555010x', null],
  ['+١٤١٥٥٥٥٠١٠٠', null],
  ['', null],
])('%j is read as %s', (text, number) => {
  expect(readE164(text)).toBe(number);
});

describe('a number that the platform pays for calls the United States, Canada and Japan', () => {
  test.each<[string, string | null, string]>([
    ['+14155550100', null, 'San Francisco'],
    ['+14165550100', null, 'Toronto'],
    ['+18005550100', null, 'toll-free'],
    ['+81312345678', null, 'Tokyo'],
    ['+819012345678', null, 'a Japanese mobile'],
    ['+815012345678', null, 'Japanese internet telephony'],
    ['+18765550100', 'destination_not_allowed', 'Jamaica'],
    ['+18095550100', 'destination_not_allowed', 'the Dominican Republic'],
    ['+17875550100', 'destination_not_allowed', 'Puerto Rico'],
    ['+15005550100', 'destination_not_allowed', 'a number that follows a person'],
    ['+447700900123', 'destination_not_allowed', 'Great Britain'],
    ['+8613800138000', 'destination_not_allowed', 'China'],
    ['+881612345678', 'destination_not_allowed', 'a satellite'],
    ['+19005550100', 'premium_destination_blocked', 'area 900'],
    ['+12129765501', 'premium_destination_blocked', 'exchange 976'],
    ['+81570012345', 'premium_destination_blocked', 'Japanese navigation dial'],
    ['+81990123456', 'premium_destination_blocked', 'Japanese information lines'],
    ['+1415555010', 'destination_invalid', 'a digit too few'],
    ['+141555501000', 'destination_invalid', 'a digit too many'],
    ['+11155550100', 'destination_invalid', 'an area code that begins with 1'],
    ['+12115550100', 'destination_invalid', 'an area code that ends in 11'],
    ['+14151550100', 'destination_invalid', 'an exchange that begins with 1'],
    ['+8131234567', 'destination_invalid', 'a Japanese number that is too short'],
    ['+8190123456789', 'destination_invalid', 'a Japanese number that is too long'],
  ])('%s: %s (%s)', (number, problem) => {
    expect(destinationProblem(number)).toBe(problem);
  });
});
