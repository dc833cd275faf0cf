import { LRUCache } from 'lru-cache';
import { loggedPath } from './logged-path.ts';

/** How many paths are remembered. A reader sends the same one with every long-poll. */
const MAX_PATHS = 8_192;

/** The credentials of now, and an object that is another one after each change of them. */
export interface CurrentCredentials {
  isCredential(text: string): boolean;
  readonly version: unknown;
}

/**
 * Paths for logs and spans, as `loggedPath` writes them. One that holds no credential is remembered for as long as the
 * credentials stay the same.
 */
export class LoggedPaths {
  private readonly credentials: CurrentCredentials;
  private readonly clean = new LRUCache<string, true>({ max: MAX_PATHS });
  private version: unknown;

  constructor(credentials: CurrentCredentials) {
    this.credentials = credentials;
  }

  of(path: string): string {
    const { version } = this.credentials;
    if (version !== this.version) this.clean.clear();
    this.version = version;
    if (this.clean.get(path)) return path;
    const logged = loggedPath(path, (text) => this.credentials.isCredential(text));
    if (logged === path) this.clean.set(copyOf(path), true);
    return logged;
  }
}

/** A part of a text keeps the whole of it in memory, here with the query, of up to 64 KiB. */
function copyOf(path: string): string {
  return Buffer.from(path).toString();
}
