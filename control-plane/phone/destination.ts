const E164 = /^\+[1-9]\d{6,14}$/;
/** Area code, exchange, line. No area code has a 9 in its middle, and no area code or exchange ends in 11. */
const NANP = /^\+1([2-9](?!11)[0-8]\d)([2-9](?!11)\d{2})\d{4}$/;
/** Nine digits on fixed lines, ten on mobile ones, the trunk zero left out. */
const JAPAN = /^\+81[1-9]\d{8,9}$/;

/** Countries and territories of the North American plan that are neither the United States nor Canada. */
const OTHER_NANP_COUNTRIES = new Set(
  '242 246 264 268 284 340 345 441 473 649 658 664 670 671 684 721 758 767 784 787 809 829 849 868 869 876 939'.split(
    ' ',
  ),
);
/** Numbers that follow a person or a carrier and say nothing of a country. */
const NON_GEOGRAPHIC = new Set(
  '500 521 522 523 524 525 526 527 528 529 533 544 566 577 588 600 622 633 644 655 677 688 700 710'.split(
    ' ',
  ),
);
const JAPAN_PREMIUM = /^\+81(570|990|180)/;

/** The number as it is stored and dialled: a Japanese trunk zero is dropped. Null for what isn't E.164. */
export function readE164(text: string): string | null {
  const number = text.replace(/^\+810/, '+81');
  return E164.test(number) ? number : null;
}

export type DestinationProblem =
  | 'destination_invalid'
  | 'destination_not_allowed'
  | 'premium_destination_blocked';

/** Why a number that the platform pays for may not call `number`: it calls the United States, Canada and Japan. */
export function destinationProblem(number: string): DestinationProblem | null {
  if (number.startsWith('+1')) return nanpProblem(number);
  if (!number.startsWith('+81')) return 'destination_not_allowed';
  if (!JAPAN.test(number)) return 'destination_invalid';
  return JAPAN_PREMIUM.test(number) ? 'premium_destination_blocked' : null;
}

function nanpProblem(number: string): DestinationProblem | null {
  const [, area, exchange] = NANP.exec(number) ?? [];
  if (area === undefined) return 'destination_invalid';
  if (area === '900' || exchange === '976') return 'premium_destination_blocked';
  return OTHER_NANP_COUNTRIES.has(area) || NON_GEOGRAPHIC.has(area) ? 'destination_not_allowed' : null;
}
