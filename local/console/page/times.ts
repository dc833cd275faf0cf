import { element } from './element.ts';

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** A time of day with the whole date in its title, or a dash for an invalid time. */
export function timeElement(at: string | undefined): HTMLElement {
  const time = new Date(at ?? '');
  if (Number.isNaN(time.getTime())) return element('time', {}, '–');
  const title = time.toLocaleString();
  return element('time', { dateTime: at ?? '', title }, CLOCK.format(time));
}

/** A duration such as `1.2 s`, or empty if it is unknown. */
export function duration(from: string | undefined, to: string | undefined): string {
  const ms = Date.parse(to ?? '') - Date.parse(from ?? '');
  if (Number.isNaN(ms) || ms < 0) return '';
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
