import { conflict, parseApiKey, type ApiKey } from './api-key.ts';

/** The entries of a list, and the problems with it. A problem never repeats a secret. */
export interface ParsedList<Entry> {
  entries: Entry[];
  problems: string[];
}

const MIN_SECRET_BYTES = 32;

export const BEARER_VALUE = /^[\x21-\x7e]+$/;
export const BEARER_MESSAGE =
  'must be visible ASCII characters without spaces, as a bearer credential is';

/** The place of a list. A variable separates entries by commas, a file by lines. */
export type ListForm = 'variable' | 'file';

/** API keys, each with its scopes. `others` are the keys of the other place of the setting. */
export function parseApiKeys(
  text: string,
  form: ListForm,
  others: readonly ApiKey[] = [],
): ParsedList<ApiKey> {
  return parseList(text, form, (entry, before) => {
    const key = parseApiKey(entry);
    if (Array.isArray(key)) return key;
    const problem = conflict(key, [...others, ...before]);
    return problem === undefined ? key : [problem];
  });
}

/** HS256 secrets of at least 32 bytes (RFC 7518 §3.2). */
export function parseReadTokenSecrets(text: string, form: ListForm): ParsedList<Buffer> {
  return parseList(text, form, (entry) => {
    const secret = Buffer.from(entry);
    return secret.length >= MIN_SECRET_BYTES
      ? secret
      : [`must have at least ${MIN_SECRET_BYTES} bytes`];
  });
}

/**
 * The single credential of a file, which may end with a line end. The list has one entry, or none if the file is
 * empty.
 */
export function parseCredential(text: string, isBearer: boolean): ParsedList<string> {
  const credential = text.trim();
  if (credential === '') return { entries: [], problems: [] };
  if (/[\r\n]/.test(credential)) {
    return { entries: [], problems: ['must hold one credential, on one line'] };
  }
  return isBearer && !BEARER_VALUE.test(credential)
    ? { entries: [], problems: [BEARER_MESSAGE] }
    : { entries: [credential], problems: [] };
}

/** An array stands for an entry that cannot be parsed, and holds its problems. */
function parseList<Entry extends object>(
  text: string,
  form: ListForm,
  parseEntry: (entry: string, before: readonly Entry[]) => Entry | string[],
): ParsedList<Entry> {
  const entries: Entry[] = [];
  const problems: string[] = [];
  const raw = text.split(form === 'variable' ? ',' : /\r?\n/).map((entry) => entry.trim());
  for (const [index, entry] of raw.entries()) {
    if (entry === '') continue;
    const parsed = parseEntry(entry, entries);
    const place = form === 'variable' ? `entry ${index + 1}` : `line ${index + 1}`;
    if (Array.isArray(parsed)) problems.push(...parsed.map((problem) => `${place} ${problem}`));
    else entries.push(parsed);
  }
  return { entries, problems };
}
