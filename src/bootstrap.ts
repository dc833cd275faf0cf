import type { Logger } from 'pino';
import { ConfigError } from './config/config-error.ts';
import type { GatewayConfig } from './config/gateway-config.ts';
import { loadConfig } from './config/load-config.ts';
import { unknownSettings } from './config/unknown-settings.ts';
import { startGateway } from './gateway.ts';
import { createOutputLogger } from './log/create-logger.ts';
import { LogOutput } from './log/log-output.ts';
import { filesAtCaps, openFileLimit } from './memory/open-files.ts';
import { setCollectorFlags } from './v8-flags.ts';

async function bootstrap(): Promise<void> {
  setCollectorFlags();
  const config = loadConfig(process.env);
  const output = new LogOutput();
  const logger = createOutputLogger(config.logLevel, output);
  for (const { name, message } of unknownSettings(process.env)) {
    logger.warn({ setting: name }, message);
  }
  warnOfFewFiles(config.limits, logger);
  // Handlers are set first of all, because a process with PID 1 ignores signals without a handler.
  const signal = firstStopSignal();
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'the gateway failed and ends');
    process.exit(1);
  });
  const gateway = await startGateway(config, logger, { log: output });
  logger.info(
    { host: config.host, port: gateway.port, managementPort: gateway.managementPort },
    'the gateway listens',
  );
  logger.info({ signal: await signal, timeoutMs: config.timeouts.drainMs }, 'the gateway drains');
  const endsAtMs = performance.now() + config.timeouts.drainMs;
  await gateway.drain();
  logger.info('the gateway has stopped');
  await output.end(
    Math.max(MIN_LOG_END_MS, Math.min(MAX_LOG_END_MS, endsAtMs - performance.now())),
  );
  process.exit(0);
}

/** Caps that were set by hand stay as they are, even if there are too few files for them. */
function warnOfFewFiles(limits: GatewayConfig['limits'], logger: Logger): void {
  const { maxConnections, maxOpenReads } = limits;
  const neededFiles = filesAtCaps(limits);
  const maxOpenFiles = openFileLimit();
  if (neededFiles <= maxOpenFiles) return;
  logger.warn(
    { maxConnections, maxOpenReads, neededFiles, maxOpenFiles },
    'the limit of open files is too low for the caps of connections and reads: raise it, or lower ' +
      'GATEWAY_MAX_CONNECTIONS and GATEWAY_MAX_OPEN_READS, or unset them',
  );
}

/** How long the exit waits for a log that nobody reads: the rest of the drain's time, within these bounds. */
const MIN_LOG_END_MS = 100;
const MAX_LOG_END_MS = 1_000;

/** One Ctrl-C can arrive more than once: from the terminal, and forwarded by npm or `own-node.ts`. */
const SAME_SIGNAL_MS = 500;

/** The first stop signal drains the gateway. A later one ends the process at once. */
function firstStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAtMs: number | undefined;
    const stop = (signal: NodeJS.Signals): void => {
      firstAtMs ??= performance.now();
      if (performance.now() - firstAtMs > SAME_SIGNAL_MS) process.exit(1);
      resolve(signal);
    };
    process.on('SIGTERM', stop).on('SIGINT', stop);
  });
}

try {
  await bootstrap();
} catch (error) {
  // There is no logger yet, or the port is taken: print one plain message without a stack.
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(error instanceof ConfigError ? `${reason}\n` : `agent-gateway: ${reason}\n`);
  process.exit(1);
}
