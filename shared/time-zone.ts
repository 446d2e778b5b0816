/** True for names of the IANA time zone database; offsets such as `+01:00` are no zone. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The calendar day in `timeZone` at `epochMs`, as YYYY-MM-DD. */
export function localDate(epochMs: number, timeZone: string): string {
  // The Swedish locale writes ISO 8601 dates.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(epochMs);
}
