import { pino, type DestinationStream, type Logger } from 'pino';
import type { GatewayConfig } from '../config/gateway-config.ts';
import { loggedError } from './logged-error.ts';
import { loggedPath } from './logged-path.ts';

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
