import { createHash } from 'node:crypto';

/** The entries of a list and what is wrong with it; a problem never repeats a secret. */
export interface ParsedList<Entry> {
  entries: Entry[];
  problems: string[];
}

const MIN_API_KEY_LENGTH = 16;
const MIN_SECRET_BYTES = 32;

/** Where a list stands: in a variable entries are separated by commas, in a file by lines. */
export type ListForm = 'variable' | 'file';

/** API keys as SHA-256 digests, from keys of at least 16 characters or `sha256:<64 hex digits>`. */
export function parseApiKeys(text: string, form: ListForm): ParsedList<Buffer> {
  return parseList(text, form, (entry) => {
    if (entry.startsWith('sha256:')) {
      const hex = entry.slice('sha256:'.length);
      return /^[0-9a-fA-F]{64}$/.test(hex)
        ? Buffer.from(hex, 'hex')
        : 'must have 64 hex digits after sha256:';
    }
    if (!/^[\x21-\x7e]+$/.test(entry)) return 'must be visible ASCII characters without spaces';
    if (entry.length < MIN_API_KEY_LENGTH) {
      return `must have at least ${MIN_API_KEY_LENGTH} characters, or be sha256:<64 hex digits>`;
    }
    return createHash('sha256').update(entry).digest();
  });
}

/** HS256 secrets of at least 32 bytes (RFC 7518 §3.2). */
export function parseReadTokenSecrets(text: string, form: ListForm): ParsedList<Buffer> {
  return parseList(text, form, (entry) => {
    const secret = Buffer.from(entry);
    return secret.length >= MIN_SECRET_BYTES
      ? secret
      : `must have at least ${MIN_SECRET_BYTES} bytes`;
  });
}

function parseList<Entry>(
  text: string,
  form: ListForm,
  parseEntry: (entry: string) => Entry | string,
): ParsedList<Entry> {
  const entries: Entry[] = [];
  const problems: string[] = [];
  const raw = text.split(form === 'variable' ? ',' : /\r?\n/).map((entry) => entry.trim());
  for (const [index, entry] of raw.entries()) {
    if (entry === '') continue;
    const parsed = parseEntry(entry);
    const place = form === 'variable' ? `entry ${index + 1}` : `line ${index + 1}`;
    if (typeof parsed === 'string') problems.push(`${place} ${parsed}`);
    else entries.push(parsed);
  }
  return { entries, problems };
}
