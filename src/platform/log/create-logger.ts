import { pino, type DestinationStream, type Logger } from 'pino';
import { InfoLines } from './info-lines.ts';
import type { LogLevel } from './log-level.ts';
import { loggedError } from './logged-error.ts';
import { loggedPath } from './logged-path.ts';

/** The injection token of the logger. */
export const LOGGER = Symbol('logger');

const BASE = { service: 'agent-gateway' };
/** The outputs of the loggers, which pino does not expose. */
const destinations = new WeakMap<Logger, DestinationStream>();

/** The JSON logger: one object per line, with the time as RFC 3339 in UTC. */
export function createLogger(level: LogLevel, destination: DestinationStream): Logger {
  const options = {
    level,
    base: BASE,
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: loggedError, path: loggedPath },
  };
  const logger = pino(options, destination);
  destinations.set(logger, destination);
  return logger;
}

/** Log lines at level `info` with these additional members. Throws a plain Error for any other logger. */
export function infoLines(logger: Logger, bindings: Record<string, string> = {}): InfoLines {
  const destination = destinations.get(logger);
  if (!destination) throw new Error('this logger was not made by createLogger');
  return new InfoLines(logger, destination, { ...BASE, ...bindings });
}
