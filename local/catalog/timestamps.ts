const DATE = '(\\d{4}-\\d\\d-\\d\\d)';
const TIME = '(\\d\\d:\\d\\d(?::\\d\\d)?)(\\.\\d+)?';
const ZONE = '(Z|[+-]\\d\\d(?::?\\d\\d)?)?';
const TIMESTAMP = new RegExp(`^\\s*${DATE}(?:[T ]${TIME}\\s*${ZONE})?\\s*$`, 'i');

/**
 * The time as Postgres writes a `timestamptz` in UTC: `2026-11-22 15:34:23.374479+00`, and as Electric sends it. Such
 * texts sort as their times do. Undefined if it is no time; without a zone it is UTC.
 */
export function toTimestamptz(text: string): string | undefined {
  const [, date, time = '00:00:00', fraction = '', zone = 'Z'] = TIMESTAMP.exec(text) ?? [];
  if (date === undefined) return undefined;
  const at = new Date(`${date}T${time.length === 5 ? `${time}:00` : time}${isoZone(zone)}`);
  // `Date` takes February 30 for March 2.
  if (Number.isNaN(at.getTime()) || !isDate(date)) return undefined;
  const seconds = at.toISOString().slice(0, 19).replace('T', ' ');
  return `${seconds}${fraction.slice(0, 7).replace(/\.?0*$/, '')}+00`;
}

function isDate(date: string): boolean {
  const at = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(date);
}

/** `+02` and `+0200` as `Date` reads them. */
function isoZone(zone: string): string {
  if (/^z$/i.test(zone)) return 'Z';
  return `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
}
