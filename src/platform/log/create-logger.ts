import { pino, type DestinationStream, type Logger } from 'pino';
import type { LogLevel } from './log-level.ts';
import { loggedError } from './logged-error.ts';
import { loggedPath } from './logged-path.ts';

/** The injection token of the logger. */
export const LOGGER = Symbol('logger');

/** The JSON logger: one object per line, with the time as RFC 3339 in UTC. */
export function createLogger(level: LogLevel, destination: DestinationStream): Logger {
  const options = {
    level,
    base: { service: 'agent-gateway' },
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: loggedError, path: loggedPath },
  };
  return pino(options, destination);
}
