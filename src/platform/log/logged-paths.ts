import { LRUCache } from 'lru-cache';
import { loggedPath, MAX_LOGGED_LENGTH } from './logged-path.ts';

/** How many paths are remembered. A reader sends the same one with every long-poll. */
const MAX_PATHS = 4_096;

/** The credentials of now, and an object that is another one after each change of them. */
export interface CurrentCredentials {
  /** Cheap, unlike `isCredential`, which takes a digest. */
  canBeCredential(text: string): boolean;
  isCredential(text: string): boolean;
  readonly version: unknown;
}

/**
 * Paths for logs and spans, as `loggedPath` writes them. A path that costs a digest and holds no credential is remembered
 * for as long as the credentials stay the same. The others cost less than to remember them, but for the last one: the
 * readers of one timeline get their responses one after the other.
 */
export class LoggedPaths {
  private readonly credentials: CurrentCredentials;
  private readonly clean = new LRUCache<string, true>({ max: MAX_PATHS });
  private version: unknown;
  private lastPath: string | undefined;
  private lastLogged = '';

  constructor(credentials: CurrentCredentials) {
    this.credentials = credentials;
  }

  of(path: string): string {
    const version = this.credentials.version;
    if (version !== this.version) {
      this.clean.clear();
      this.lastPath = undefined;
      this.version = version;
    }
    if (path === this.lastPath) return this.lastLogged;
    if (this.clean.get(path)) return path;
    let isCostly = false;
    const logged = loggedPath(path, (text) => {
      if (!this.credentials.canBeCredential(text)) return false;
      isCostly = true;
      return this.credentials.isCredential(text);
    });
    if (isCostly && logged === path && path.length <= MAX_LOGGED_LENGTH) {
      this.clean.set(copyOf(path), true);
    }
    this.lastPath = path;
    this.lastLogged = logged;
    return logged;
  }
}

/** A part of a text keeps the whole of it in memory, here with the query, of up to 64 KiB. */
function copyOf(path: string): string {
  return Buffer.from(path).toString();
}
