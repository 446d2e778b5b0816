// Date, then optionally time with minutes, seconds and any fraction, then a zone; a space before the offset is a
// `+` that a query string has eaten.
const INSTANT =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:[.,]\d{1,9})?)?(?:([Zz])|([+\- ])(\d{2}):?(\d{2})?)?)?$/;

/** The instant an ISO 8601 text names, ms since 1970; UTC when it names no zone. Null when it isn't one. */
export function parseInstant(text: string): number | null {
  const match = INSTANT.exec(text);
  if (!match) return null;
  const [, day, minutes = '00:00', seconds = ':00', , sign, offsetHours = '00', offsetMinutes = '00'] = match;
  const atUtcMs = Date.parse(`${day}T${minutes}${seconds.replace(',', '.')}Z`);
  if (Number.isNaN(atUtcMs)) return null;
  // Engines roll 30 February over into March; no such day is meant.
  const isRealDay = minutes.startsWith('24') || new Date(atUtcMs).toISOString().startsWith(String(day));
  const offsetMs = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000;
  if (!isRealDay || Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return null;
  return sign === '-' ? atUtcMs + offsetMs : atUtcMs - offsetMs;
}
