/** Money is counted in millionths of one unit of credit, always in whole numbers. */
export const MICROS_PER_UNIT = 1_000_000;

const DECIMAL = /^-?\d{1,9}(\.\d{1,6})?$/;

/** `99940000` → `99.94`: at least two decimals, at most six, none of them needless. */
export function formatMicros(micros: number): string {
  const digits = String(Math.abs(micros)).padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0{1,4}$/, '');
  return `${micros < 0 ? '-' : ''}${digits.slice(0, -6)}.${fraction}`;
}

/** `99.94` → `99940000`; null for anything that isn't a decimal number of at most six places. */
export function parseMicros(text: string): number | null {
  if (!DECIMAL.test(text)) return null;
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const micros = Number(whole) * MICROS_PER_UNIT + Number(fraction.padEnd(6, '0'));
  return text.startsWith('-') && micros !== 0 ? -micros : micros;
}
