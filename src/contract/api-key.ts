import { createHash } from 'node:crypto';
import { parsePathScope, type PathScope } from './path-scope.ts';

/** The scopes of an API key. A read token has none, because it opens only reads. */
export const SCOPES = [
  'commands',
  'streams:read',
  'streams:write',
  'streams:delete',
  'shapes:read',
  'registry:read',
  'registry:write',
] as const;
export type Scope = (typeof SCOPES)[number];

/** An API key as an entry of GATEWAY_API_KEYS describes it. The key itself is not kept. */
export interface ApiKey {
  /** SHA-256 of the key. */
  digest: Buffer;
  /** The key's length. Undefined if only its digest was given. */
  length?: number | undefined;
  /** The key's name in logs and metrics. */
  name: string;
  /** Whether the entry names the key. */
  isNamed: boolean;
  scopes: ReadonlySet<Scope>;
  /** The paths to which the scopes of streams are limited, if they are. */
  paths: PathScope | undefined;
}

const MIN_KEY_LENGTH = 16;
const MAX_KEY_LENGTH = 256;
/**
 * The form of a key. It is an allow-list, so that no piece of a mistyped entry is a key: no path, no attribute, no
 * comment, no misspelt digest.
 */
const KEY = /^(?![/.=]|sha256)[A-Za-z0-9._~+/-]+=*$/i;
const DIGEST = /^sha256:([0-9A-Fa-f]{64})$/;
const MAX_PATHS = 16;
/**
 * The form of a path, another allow-list. Any other character must be percent-encoded, so that a comma or a quote in
 * place of a plus does not name another path.
 */
const PATH = /^\/streams(?:\/[A-Za-z0-9._~:@%-]+)*\/?$/;
const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
/** The name of every read token in the log and the metrics. No API key may have it. */
export const READ_TOKEN_CREDENTIAL = 'read-token';
const ATTRIBUTE = /^(name|scopes|paths)=(.*)$/s;

/** Whether a text has the form of a key. No other text is one, even if its digest is in the list. */
export function isKey(text: string): boolean {
  return keyProblem(text) === undefined;
}

/** What is wrong with the form of a key, if anything is. */
export function keyProblem(key: string): string | undefined {
  if (key.length < MIN_KEY_LENGTH) {
    return `must have at least ${MIN_KEY_LENGTH} characters, or be sha256:<64 hex digits>`;
  }
  if (key.length > MAX_KEY_LENGTH) return `must have at most ${MAX_KEY_LENGTH} characters`;
  return KEY.test(key)
    ? undefined
    : 'must be letters, digits and . _ ~ + / -, with = at the end only, and must not begin with /, . or sha256; ' +
        'or be sha256:<64 hex digits>';
}

/**
 * Parses an entry: a key or its digest, then `name=`, `scopes=` and `paths=`. Returns a list of problems if it is
 * wrong. No problem repeats a part of the entry, because a key may stand in the wrong place.
 */
export function parseApiKey(entry: string): ApiKey | string[] {
  const [key = '', ...rest] = entry.split(/[ \t]+/);
  const problems: string[] = [];
  const digest = digestOf(key);
  if (typeof digest === 'string') problems.push(digest);
  const given = attributes(rest, problems);
  const name = given.get('name');
  if (name !== undefined && (!NAME.test(name) || name === READ_TOKEN_CREDENTIAL)) {
    problems.push(
      `must have a name of up to 32 lower-case letters, digits and hyphens, other than ${READ_TOKEN_CREDENTIAL}`,
    );
  }
  const listed = given.get('scopes');
  const scopes = listed === undefined ? new Set(SCOPES) : parseScopes(listed, problems);
  const paths = pathsOf(given.get('paths'), problems);
  if (paths && scopes.size > 0 && ![...scopes].some(isOfStreams)) {
    problems.push('has paths=, which narrows the scopes of streams, and none of these');
  }
  if (problems.length > 0 || typeof digest === 'string') return problems;
  const isNamed = name !== undefined;
  return {
    digest,
    length: key.startsWith('sha256:') ? undefined : key.length,
    name: name ?? `key-${digest.toString('hex', 0, 4)}`,
    isNamed,
    scopes,
    paths,
  };
}

/** Whether paths limit a scope. */
export function isOfStreams(scope: Scope): boolean {
  return scope.startsWith('streams:');
}

/** Whether everything that an entry opens is opened by another one of the same key, too. */
export function opensNoMore({ scopes, paths }: ApiKey, other: ApiKey): boolean {
  if (![...scopes].every((scope) => other.scopes.has(scope))) return false;
  return other.paths === undefined || JSON.stringify(paths) === JSON.stringify(other.paths);
}

/**
 * Finds keys that conflict with earlier ones. Names must be unique. A key may be given twice only without a name, and so
 * without limits.
 */
export class KeyConflicts {
  private readonly byDigest = new Map<string, ApiKey>();
  private readonly names = new Set<string>();

  /** Adds a key, or returns what is wrong with it beside the earlier ones. */
  add(key: ApiKey): string | undefined {
    const digest = key.digest.toString('base64');
    const same = this.byDigest.get(digest);
    if (same && (same.isNamed || key.isNamed)) {
      return 'is the key of another entry; give a key once, with all that it opens';
    }
    if (!same && this.names.has(key.name)) return 'has the name of another key';
    this.byDigest.set(digest, key);
    this.names.add(key.name);
    return undefined;
  }
}

function digestOf(key: string): Buffer | string {
  if (key.startsWith('sha256:')) {
    const [, hex] = DIGEST.exec(key) ?? [];
    return hex === undefined ? 'must have 64 hex digits after sha256:' : Buffer.from(hex, 'hex');
  }
  return keyProblem(key) ?? createHash('sha256').update(key).digest();
}

function attributes(words: readonly string[], problems: string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const [index, word] of words.entries()) {
    const [, name = '', value = ''] = ATTRIBUTE.exec(word) ?? [];
    if (name === '') {
      problems.push(
        `has something else than name=, scopes= or paths= after the key, in place ${index + 1}`,
      );
    } else if (given.has(name)) problems.push(`has ${name}= twice`);
    else given.set(name, value);
  }
  return given;
}

/** Parses scopes separated by `+`. Adds a problem for each unknown one, by its position. */
export function parseScopes(list: string, problems: string[]): ReadonlySet<Scope> {
  const scopes = new Set<Scope>();
  for (const [index, word] of list.split('+').entries()) {
    const scope = SCOPES.find((known) => known === word);
    if (scope) scopes.add(scope);
    else
      problems.push(`has scopes= whose value ${index + 1} is none; there are ${SCOPES.join(', ')}`);
  }
  return scopes;
}

function pathsOf(list: string | undefined, problems: string[]): PathScope | undefined {
  if (list === undefined) return undefined;
  const paths = list.split('+');
  if (paths.length > MAX_PATHS) problems.push(`has more than ${MAX_PATHS} paths`);
  const scope: string[][] = [];
  for (const [index, path] of paths.entries()) {
    const [segments] = (PATH.test(path) && parsePathScope([path])) || [];
    if (segments) scope.push([...segments]);
    else {
      problems.push(
        `has paths= whose value ${index + 1} is no path of /streams in its plain, normalized form, ` +
          'with all characters but letters, digits and . _ ~ : @ - percent-encoded',
      );
    }
  }
  return scope;
}
