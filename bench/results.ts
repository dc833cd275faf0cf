import type { Machine } from './machine.ts';
import type { CommandsTable } from './scenarios/commands.ts';
import type { CopiesTable } from './scenarios/copies.ts';
import type { FanOutTable } from './scenarios/fan-out.ts';
import type { LargeBodyTable } from './scenarios/large-body.ts';
import type { MemoryTable } from './scenarios/memory.ts';
import type { OutageTable } from './scenarios/outage.ts';
import type { PlainTables } from './scenarios/plain.ts';
import type { SameUrlTables } from './scenarios/same-url.ts';
import type { StartTable } from './scenarios/start.ts';
import type { TokensTable } from './scenarios/tokens.ts';

/** The results of each part. */
export interface Measurements {
  plain: PlainTables;
  tokens: TokensTable;
  'same-url': SameUrlTables;
  copies: CopiesTable;
  'fan-out': FanOutTable;
  memory: MemoryTable;
  'large-body': LargeBodyTable;
  commands: CommandsTable;
  start: StartTable;
  outage: OutageTable;
}

/** A run of the bench, whole or in part. */
export interface Results {
  /** RFC 3339, UTC. */
  takenAt: string;
  /** Of the gateway that was measured. */
  commit: string;
  tookSeconds: number;
  machine: Machine;
  seconds: number;
  rounds: number;
  events: number;
  measurements: Partial<Measurements>;
  /** When the parts were taken that are of a later run in part. */
  added?: Partial<Record<keyof Measurements, { takenAt: string; commit: string }>>;
  /** The run before of the same commit, with the goals as it measured them: how much two runs differ. */
  before?: { takenAt: string; goals: Record<string, string> } | undefined;
  /** Why a part has no measurements. */
  failures: Partial<Record<keyof Measurements, string>>;
}
