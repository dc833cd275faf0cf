import type { ParsedList } from '../platform/config/secret-list.ts';
import { KeyConflicts, opensNoMore, parseApiKey, type ApiKey } from './api-key.ts';

const MIN_SECRET_BYTES = 32;
/** A file of another kind has half a million wrong lines. */
const MAX_WRONG_ENTRIES = 16;
const LINE_END_MISSING =
  'must have a line end, because it opens more than the list in use and may be cut off';
const NAME_MISSING = 'must have a name=, as every entry of a list in which any has attributes';

export const BEARER_VALUE = /^[\x21-\x7e]+$/;
export const BEARER_MESSAGE =
  'must be visible ASCII characters without spaces, as a bearer credential is';

/** The place of a list. A variable separates entries by commas, a file by lines. */
export type ListForm = 'variable' | 'file';

/**
 * API keys, each with its scopes. If any entry has attributes, every entry must have a name: one without may be a piece
 * that fell off the entry before it, and would open everything. `others` are the keys of the other place of the setting,
 * and `inForce` those in use when a file is read again.
 */
export function parseApiKeys(
  text: string,
  form: ListForm,
  others: readonly ApiKey[] = [],
  inForce?: readonly ApiKey[],
): ParsedList<ApiKey> {
  const lines = linesOf(text, form);
  const mustHaveNames = lines.some(({ entry }) => /\s/.test(entry));
  // The write of a file may be under way, and its last line cut anywhere: before scopes=, or in a path.
  const unfinished = inForce && text.slice(text.lastIndexOf('\n') + 1).trim();
  const conflicts = new KeyConflicts();
  for (const other of others) conflicts.add(other);
  return parseLines(lines, form, (entry) => {
    const key = parseApiKey(entry);
    if (Array.isArray(key)) return key;
    if (mustHaveNames && !key.isNamed) return [NAME_MISSING];
    if (entry === unfinished && !isSafeUnfinished(key, inForce)) return [LINE_END_MISSING];
    const problem = conflicts.add(key);
    return problem === undefined ? key : [problem];
  });
}

/**
 * Whether an entry may be taken that could continue. It opens no more than the key does now. Or it is a bare key, which people
 * often write without a line end, and no entry in use has attributes that it could have lost.
 */
function isSafeUnfinished(key: ApiKey, inForce: readonly ApiKey[] = []): boolean {
  const known = inForce.find(({ digest }) => digest.equals(key.digest));
  if (known) return opensNoMore(key, known);
  return !key.isNamed && !inForce.some(({ isNamed }) => isNamed);
}

/** HS256 secrets of at least 32 bytes (RFC 7518 §3.2). */
export function parseReadTokenSecrets(text: string, form: ListForm): ParsedList<Buffer> {
  return parseLines(linesOf(text, form), form, (entry) => {
    const secret = Buffer.from(entry);
    const problems = [];
    if (secret.length < MIN_SECRET_BYTES) {
      problems.push(`must have at least ${MIN_SECRET_BYTES} bytes`);
    }
    // A comment in a place where there are none, or several lines in the place of one.
    if (entry.startsWith('#')) problems.push('must not begin with #');
    if (/\p{Cc}/u.test(entry)) problems.push('must not have line ends or other control characters');
    return problems.length > 0 ? problems : secret;
  });
}

/** The single credential of a file, which may end with a line end. */
export function parseCredential(text: string, isBearer: boolean): ParsedList<string> {
  const [line, ...more] = linesOf(text, 'file');
  if (!line || more.length > 0 || line.entry.includes('\r')) {
    return { entries: [], problems: ['must hold one credential, on one line'] };
  }
  return isBearer && !BEARER_VALUE.test(line.entry)
    ? { entries: [], problems: [BEARER_MESSAGE] }
    : { entries: [line.entry], problems: [] };
}

interface Line {
  entry: string;
  /** The place in the list, for a message. */
  place: string;
}

/** The entries of a list that are not empty. In a file, a line that begins with `#` is a comment. */
function linesOf(text: string, form: ListForm): Line[] {
  const isFile = form === 'file';
  const entries = isFile ? text.replace(/^\uFEFF/, '').split(/\r?\n/) : text.split(',');
  return entries
    .map((entry, index) => ({
      entry: isFile && entry.startsWith('#') ? '' : entry.trim(),
      place: `${isFile ? 'line' : 'entry'} ${index + 1}`,
    }))
    .filter(({ entry }) => entry !== '');
}

/** An array stands for an entry that cannot be parsed, and holds its problems. */
function parseLines<Entry extends object>(
  lines: readonly Line[],
  form: ListForm,
  parseEntry: (entry: string) => Entry | string[],
): ParsedList<Entry> {
  const entries: Entry[] = [];
  const problems: string[] = [];
  if (form === 'file' && lines.length === 0)
    problems.push('must hold at least one entry, one a line');
  let wrong = 0;
  for (const { entry, place } of lines) {
    const parsed = parseEntry(entry);
    if (!Array.isArray(parsed)) entries.push(parsed);
    else if (++wrong <= MAX_WRONG_ENTRIES) {
      problems.push(...parsed.map((problem) => `${place} ${problem}`));
    }
  }
  if (wrong > MAX_WRONG_ENTRIES) {
    problems.push(`has ${wrong - MAX_WRONG_ENTRIES} more wrong entries`);
  }
  return { entries, problems };
}
