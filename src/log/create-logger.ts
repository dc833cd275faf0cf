import { pino, type DestinationStream, type Logger } from 'pino';
import type { GatewayConfig } from '../config/gateway-config.ts';
import type { LogOutput } from './log-output.ts';
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

/** The logger of the process. Where its output did not take all lines, a line tells how many are missing. */
export function createOutputLogger(level: GatewayConfig['logLevel'], output: LogOutput): Logger {
  const logger = createLogger(level, output);
  output.onRoom = (droppedLines) => {
    logger.error({ droppedLines }, 'lines are missing here: the output of the log took none');
  };
  return logger;
}
