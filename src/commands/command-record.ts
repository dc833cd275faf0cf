import type { RequestRecord } from '../platform/telemetry/request-record.ts';
import type { CommandVerb } from './command-verb.ts';

/** What the metrics and the audit say of a command. */
export interface CommandRecord {
  verb: CommandVerb;
  /** The URL of its entity. */
  entityUrl: string;
  /** Whether the runtime already had the command. Undefined before its answer. */
  isReplay?: boolean;
}

/** The record of a command. Undefined for any other request, and for a command that was refused before. */
export function commandOf(context: RequestRecord): CommandRecord | undefined {
  return context.command as CommandRecord | undefined;
}
