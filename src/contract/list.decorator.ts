import { isIpNet } from '../platform/http/ip-nets.ts';
import { isExactOrigin } from './exact-origin.ts';
import { Setting } from './setting.decorator.ts';

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
    (text) => listOf(text, isIpNet),
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
