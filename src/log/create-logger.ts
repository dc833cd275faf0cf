import { pino, type DestinationStream, type Logger } from 'pino';
import type { GatewayConfig } from '../config/gateway-config.ts';
import { loggedError } from './logged-error.ts';

/** The JSON logger: one object a line on standard output, time as RFC 3339 in UTC. */
export function createLogger(
  level: GatewayConfig['logLevel'],
  destination?: DestinationStream,
): Logger {
  const options = {
    level,
    base: { service: 'agent-gateway' },
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: loggedError, path: loggedPath },
  };
  return destination ? pino(options, destination) : pino(options);
}

/**
 * A request path without what may hold a credential: a fragment, and all of a target that is no path
 * (`http://user:password@host/`).
 */
function loggedPath(path: string): string {
  return path.startsWith('/') ? path.replace(/#.*$/s, '') : '(no path)';
}
