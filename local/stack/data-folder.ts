import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The data that survive restarts and `--fresh`. */
export interface Settings {
  /** The key that opens everything, for the user at the terminal. */
  apiKey: string;
  /** The key of the example agents. */
  agentsKey: string;
  /** The key of the console. */
  consoleKey: string;
  readTokenSecret: string;
  /** What the catalog asks the gateway for, and agents that write rows. */
  catalogSecret: string;
  /** What Restate and the history store ask the gateway for. */
  upstreamToken: string;
  /** The name of this system. It marks the deployment of its example agents. */
  systemName: string;
  /** The ports of the last start by part, which the next one takes again. */
  ports?: Record<string, number>;
}

export interface DataFolder {
  readonly path: string;
  readonly restate: string;
  readonly history: string;
  readonly catalog: string;
  readonly settings: Settings;
  /** Whether there were data that `fresh` has dropped. */
  readonly dropped: boolean;
  save(settings: Settings): void;
  /** Unlocks the folder for the next `npm run local`. */
  unlock(): void;
}

export class AlreadyRunningError extends Error {}

const DATABASE_BUSY = 5;
/** Timelines and the journal hold what people write to agents. */
const OWNER_ONLY = 0o700;

/**
 * Opens the folder for this process alone and creates it if necessary. @throws AlreadyRunningError while another
 * process has it open.
 */
export function openDataFolder(path: string, { fresh }: { fresh: boolean }): DataFolder {
  mkdirSync(path, { recursive: true, mode: OWNER_ONLY });
  const unlock = lock(path);
  const parts = {
    restate: join(path, 'restate'),
    history: join(path, 'history'),
    catalog: join(path, 'catalog'),
  };
  const dropped = fresh && Object.values(parts).some((part) => existsSync(part));
  for (const part of Object.values(parts)) {
    // Nothing else is deleted, because the user named the folder.
    if (fresh) rmSync(part, { recursive: true, force: true });
    mkdirSync(part, { recursive: true });
    chmodSync(part, OWNER_ONLY);
  }
  const settingsFile = join(path, 'settings.json');
  const save = (settings: Settings) =>
    writeFileSync(settingsFile, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  const saved = existsSync(settingsFile) ? readFileSync(settingsFile, 'utf8') : '{}';
  // A folder of an older version lacks newer entries.
  const settings = { ...newSettings(), ...(JSON.parse(saved) as Partial<Settings>) };
  save(settings);
  return { path, ...parts, settings, dropped, save, unlock };
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
    upstreamToken: secret(),
    systemName: `local-${randomBytes(4).toString('hex')}`,
  };
}

/** Whether a process has the folder open. */
export function isOpen(path: string): boolean {
  if (!existsSync(join(path, 'lock.sqlite'))) return false;
  try {
    lock(path)();
    return false;
  } catch (error) {
    if (error instanceof AlreadyRunningError) return true;
    throw error;
  }
}

/** SQLite's file lock ends with its process, however that ends. A pid file would stay. */
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
