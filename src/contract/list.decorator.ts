import { ipNets } from '../platform/http/ip-nets.ts';
import { Setting } from '../platform/config/setting.decorator.ts';

/** Scheme, host and port of an `Origin` whose scheme the URL parser does not support. */
const OTHER_ORIGIN =
  /^(?!file:)[a-z][a-z0-9+.-]*:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

/** A list, or `*` for everything. */
export type ListOrAll = '*' | string[];

/** The origins of pages, or `*` for all. */
export function OriginList(): PropertyDecorator {
  return Setting(
    'must be * or comma-separated exact origins such as ' +
      'https://app.example (lower case, no path, no trailing slash, no default port)',
    (text) => (text.trim() === '*' ? '*' : listOf(text, isExactOrigin)),
  );
}

/** The names of tables, or `*` for all. */
export function TableList(): PropertyDecorator {
  return Setting('must be comma-separated table names, or * for all', (text) => {
    const tables = listOf(text, () => true);
    return tables?.includes('*') ? '*' : tables;
  });
}

/** IP addresses and nets. */
export function NetList(): PropertyDecorator {
  return Setting(
    'must be comma-separated addresses or nets such as 10.0.0.0/8 or fd00::/8, never all addresses',
    (text) => ipNets(listOf(text, () => true) ?? ['']),
  );
}

/** Entries between commas. Spaces around them and empty entries do not count; there must be one entry. */
function listOf(text: string, isEntry: (entry: string) => boolean): string[] | undefined {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return entries.length > 0 && entries.every((entry) => isEntry(entry)) ? entries : undefined;
}

/**
 * Whether a text is an origin as a browser sends it (RFC 6454 §6.2). URL parsers return no origin for
 * `capacitor://localhost` and other schemes of apps. Pages of `file:` and similar schemes send `null`, which anyone
 * can have.
 */
function isExactOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin } = new URL(text);
  return origin === 'null' ? OTHER_ORIGIN.test(text) : origin === text && !text.includes('*');
}
