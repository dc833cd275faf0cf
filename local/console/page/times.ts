import { element } from './element.ts';

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** A time of day, with its day unless that is today, and the whole date in its title. A dash for an invalid time. */
export function timeElement(at: string | undefined): HTMLElement {
  const time = new Date(msOf(at));
  if (Number.isNaN(time.getTime())) return element('time', {}, '–');
  const isToday = time.toDateString() === new Date().toDateString();
  const text = isToday ? CLOCK.format(time) : `${DAY.format(time)} ${CLOCK.format(time)}`;
  return element('time', { dateTime: time.toISOString(), title: time.toLocaleString() }, text);
}

/** A duration such as `1.2 s`, or empty if it is unknown. */
export function duration(from: string | undefined, to: string | undefined): string {
  const ms = msOf(to) - msOf(from);
  if (Number.isNaN(ms) || ms < 0) return '';
  return ms < 1_000 ? `${ms} ms` : ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : span(ms);
}

/** How long ago a time was, such as `3 min`, or empty if it is unknown. */
export function age(at: string | undefined): string {
  const ms = Date.now() - msOf(at);
  return Number.isNaN(ms) ? '' : span(Math.max(0, ms));
}

/** When the next attempt is, such as `next try in 3 s`. */
export function nextTry(at: string | undefined): string {
  const ms = msOf(at) - Date.now();
  if (Number.isNaN(ms)) return '';
  return ms < 500 ? 'trying now' : `next try in ${span(ms)}`;
}

/** An event may have any JSON for its time. */
export function msOf(at: unknown): number {
  return typeof at === 'string' ? Date.parse(at) : NaN;
}

function span(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
