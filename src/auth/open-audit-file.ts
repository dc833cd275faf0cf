import type { Logger } from 'pino';
import { AuditFile, type AuditFileEvents } from './audit-file.ts';
import { createLogger } from '../platform/log/create-logger.ts';

/** How long the end of the process waits for a disk that takes nothing. */
const END_TIMEOUT_MS = 1_000;

/** A file for audit lines, and the logger that writes to it. */
export interface OpenAuditFile {
  file: AuditFile;
  /** It does not follow the level of the log: a quiet log must not leave out the audit. */
  logger: Logger;
  /** Writes the last lines. */
  end(): Promise<void>;
}

/** Opens the file, if there is a path. The log tells what fails later. Throws a plain Error if it cannot be opened. */
export function openAuditFile(path: string | undefined, log: Logger): OpenAuditFile | undefined {
  if (path === undefined) return undefined;
  const file = open(path, {
    onFailure: (error) =>
      log.error({ err: error }, 'GATEWAY_AUDIT_FILE takes no lines; they wait in memory'),
    onRecovery: () => log.info('GATEWAY_AUDIT_FILE takes lines again'),
    onRoom: (droppedLines) => {
      log.error({ droppedLines }, 'audit lines are lost: GATEWAY_AUDIT_FILE took none');
      logger.error({ droppedLines }, 'lines are missing here: this file took none');
    },
  });
  const logger = createLogger('info', file);
  const end = async (): Promise<void> => {
    await file.end(END_TIMEOUT_MS);
    const { waitingBytes } = file;
    if (waitingBytes > 0) log.error({ waitingBytes }, 'the last audit lines are lost');
  };
  return { file, logger, end };
}

function open(path: string, events: AuditFileEvents): AuditFile {
  try {
    return new AuditFile(path, events);
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    throw new Error(`cannot append to the file of GATEWAY_AUDIT_FILE: ${code}`, { cause });
  }
}
