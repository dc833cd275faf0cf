import type { RequestRecord } from '../platform/telemetry/request-record.ts';
import type { CommandVerb } from './command-verb.ts';

/** What the metrics and the audit say of a command. */
export interface CommandRecord {
  verb: CommandVerb;
  /** The URL of its entity, once it is known. */
  entityUrl?: string;
  /** Whether the runtime already had the command. Undefined before its answer. */
  isReplay?: boolean;
}

/** Begins the record of a command, whose verb is known now. */
export function recordCommand(context: RequestRecord, verb: CommandVerb): CommandRecord {
  const record: CommandRecord = { verb };
  context.command = record;
  return record;
}

/** The record of a command. Undefined for any other request, and for a command that was refused before. */
export function commandOf(context: RequestRecord): CommandRecord | undefined {
  return context.command as CommandRecord | undefined;
}
