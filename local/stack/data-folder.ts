import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** What stays the same from one start to the next, and over `--fresh`. */
export interface Settings {
  /** Opens everything, for the person at the terminal. */
  apiKey: string;
  /** Opens what the example agents need. */
  agentsKey: string;
  /** Opens what the console needs. */
  consoleKey: string;
  readTokenSecret: string;
  catalogSecret: string;
  /** Restate remembers where the agents are, so they come back to the same port if it is free. */
  agentsPort?: number;
}

export interface DataFolder {
  readonly restate: string;
  readonly history: string;
  readonly catalog: string;
  readonly settings: Settings;
  save(settings: Settings): void;
  /** Lets the next `npm run local` in. */
  unlock(): void;
}

export class AlreadyRunningError extends Error {}

const DATABASE_BUSY = 5;

/**
 * Opens the folder, creating what is missing, for this process alone.
 * @throws AlreadyRunningError while another process has it open.
 */
export function openDataFolder(path: string, { fresh }: { fresh: boolean }): DataFolder {
  mkdirSync(path, { recursive: true });
  const unlock = lock(path);
  const parts = {
    restate: join(path, 'restate'),
    history: join(path, 'history'),
    catalog: join(path, 'catalog'),
  };
  for (const part of Object.values(parts)) {
    // Nothing else goes: the folder is one that a command line named.
    if (fresh) rmSync(part, { recursive: true, force: true });
    mkdirSync(part, { recursive: true });
  }
  const settingsFile = join(path, 'settings.json');
  const save = (settings: Settings) =>
    writeFileSync(settingsFile, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  const saved = existsSync(settingsFile) ? readFileSync(settingsFile, 'utf8') : '{}';
  // A folder of an older version lacks what is newer.
  const settings = { ...newSettings(), ...(JSON.parse(saved) as Partial<Settings>) };
  save(settings);
  return { ...parts, settings, save, unlock };
}

function newSettings(): Settings {
  const secret = () => randomBytes(32).toString('base64url');
  const key = () => `dev_${secret()}`;
  return {
    apiKey: key(),
    agentsKey: key(),
    consoleKey: key(),
    readTokenSecret: secret(),
    catalogSecret: secret(),
  };
}

/** SQLite's file lock goes with the process that holds it, however that ends; a pid file stays. */
function lock(path: string): () => void {
  const database = new DatabaseSync(join(path, 'lock.sqlite'));
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== DATABASE_BUSY) throw error;
    throw new AlreadyRunningError(`The local system is running already, with its data in ${path}.`);
  }
  return () => database.close();
}
