import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseScopes, type Scope } from '../gateway-rules.ts';
import { usageError } from '../cli-error.ts';

/** One gateway, by name. */
export interface Profile {
  name: string;
  url: string;
  tenant?: string | undefined;
  key?: string | undefined;
  keyFile?: string | undefined;
  /** The scopes of its key. */
  scopes?: ReadonlySet<Scope> | undefined;
  /** Whether its key may go to another machine over plain HTTP. */
  allowHttp?: boolean | undefined;
}

export interface ProfileFile {
  path: string;
  /** The profile that is used if none is named. */
  defaultName: string | undefined;
  profiles: Map<string, Profile>;
}

/** A profile as stored in the file. */
export type StoredProfile = { url: string } & Partial<
  Record<'tenant' | 'key' | 'keyFile' | 'scopes', string>
> & { allowHttp?: boolean };

interface StoredFile {
  default?: string;
  profiles: Record<string, StoredProfile>;
}

const TEXTS = ['url', 'tenant', 'key', 'keyFile', 'scopes'] as const;
const FIELDS: readonly string[] = [...TEXTS, 'allowHttp'];

/** The path of the profiles, unless a flag names another file. */
export function profilePath(env: Record<string, string | undefined>): string {
  const home = env.HOME || homedir();
  const folder = env.XDG_CONFIG_HOME || join(home, '.config');
  return env.AGENT_GATEWAY_CONFIG || join(folder, 'agent-gateway', 'config.json');
}

/** Reads the file. Undefined if there is none. Throws a usage error that never contains a key. */
export function readProfileFile(path: string): ProfileFile | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw usageError(`${path} cannot be read (${code}).`);
  }
  const file = parseObject(text, path);
  const { default: defaultName, profiles = {}, ...unknown } = file;
  refuseUnknown(Object.keys(unknown), path, 'default, profiles');
  if (defaultName !== undefined && typeof defaultName !== 'string') {
    throw usageError(`${path}: "default" must be the name of a profile.`);
  }
  if (!isObject(profiles)) throw usageError(`${path}: "profiles" must be an object.`);
  const entries = Object.entries(profiles).map(
    ([name, profile]) => [name, readProfile(name, profile, path)] as const,
  );
  return { path, defaultName, profiles: new Map(entries) };
}

/**
 * Changes or creates the file atomically: readers see either the old or the new content. Throws a usage error if
 * the content is invalid before or after the change.
 */
export function changeProfileFile(path: string, change: (file: StoredFile) => void): void {
  const isThere = readProfileFile(path) !== undefined;
  const old = isThere ? (JSON.parse(readFileSync(path, 'utf8')) as Partial<StoredFile>) : {};
  const file: StoredFile = { ...old, profiles: { ...old.profiles } };
  change(file);
  for (const [name, profile] of Object.entries(file.profiles)) readProfile(name, profile, path);
  const draft = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify(file, undefined, 2)}\n`, { mode: 0o600 });
    // The mode of `writeFileSync` applies only to new files.
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  } catch (error) {
    throw usageError(`${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** A warning in one sentence if others can read a file that contains a key. */
export function openFileWarning(path: string): string | undefined {
  // On Windows the mode does not describe the access of others.
  if (process.platform === 'win32') return undefined;
  try {
    const othersMay = statSync(path).mode & 0o077;
    return othersMay === 0
      ? undefined
      : `${path} holds a key and can be read by others: chmod 600 ${path}`;
  } catch {
    return undefined;
  }
}

function readProfile(name: string, profile: unknown, path: string): Profile {
  const where = `${path}: the profile "${name}"`;
  if (!isObject(profile)) throw usageError(`${where} must be an object.`);
  refuseUnknown(
    Object.keys(profile).filter((field) => !FIELDS.includes(field)),
    `${where}`,
    FIELDS.join(', '),
  );
  const { allowHttp, ...texts } = profile;
  if (allowHttp !== undefined && typeof allowHttp !== 'boolean') {
    throw usageError(`${where}: "allowHttp" must be true or false.`);
  }
  for (const [field, value] of Object.entries(texts)) {
    if (typeof value !== 'string' || value === '') {
      throw usageError(`${where}: "${field}" must be a text.`);
    }
  }
  const { url, tenant, key, keyFile, scopes } = texts as Partial<
    Record<(typeof TEXTS)[number], string>
  >;
  // The address is required, because the key belongs to it.
  if (url === undefined) throw usageError(`${where} has no "url".`);
  if (key !== undefined && keyFile !== undefined) {
    throw usageError(`${where} has both "key" and "keyFile": give one of them.`);
  }
  return {
    name,
    url,
    tenant,
    key,
    keyFile: keyFile && beside(path, keyFile),
    scopes: scopes === undefined ? undefined : checkedScopes(scopes, where),
    allowHttp,
  };
}

function checkedScopes(list: string, where: string): ReadonlySet<Scope> {
  const problems: string[] = [];
  const scopes = parseScopes(list, problems);
  if (problems.length > 0) throw usageError(`${where} ${problems.join('; ')}.`);
  return scopes;
}

/** Resolves a path of a profile from the home folder or from the folder of the file. */
function beside(path: string, file: string): string {
  return file.startsWith('~/') ? join(homedir(), file.slice(2)) : resolve(dirname(path), file);
}

function refuseUnknown(names: string[], where: string, known: string): void {
  if (names.length === 0) return;
  throw usageError(`${where} has the unknown field "${names.join('", "')}"; known are ${known}.`);
}

function parseObject(text: string, path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message is left out, because it quotes the content, which may be a key.
    throw usageError(`${path} is not JSON.`);
  }
  if (!isObject(value)) throw usageError(`${path} must hold a JSON object.`);
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
