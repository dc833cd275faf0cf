import { ConfigError } from './config/config-error.ts';
import { loadConfig } from './config/load-config.ts';
import { unknownSettings } from './config/unknown-settings.ts';
import { startGateway } from './gateway.ts';
import { createLogger } from './log/create-logger.ts';
import { LogOutput } from './log/log-output.ts';
import { setCollectorFlags } from './v8-flags.ts';

async function bootstrap(): Promise<void> {
  setCollectorFlags();
  const config = loadConfig(process.env);
  const output = new LogOutput();
  const logger = createLogger(config.logLevel, output);
  for (const { name, message } of unknownSettings(process.env)) {
    logger.warn({ setting: name }, message);
  }
  // From the very start: as PID 1 a process gets no signal that it has no handler for.
  const signal = firstStopSignal();
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'the gateway failed and ends');
    process.exit(1);
  });
  const gateway = await startGateway(config, logger);
  logger.info(
    { host: config.host, port: gateway.port, managementPort: gateway.managementPort },
    'the gateway listens',
  );
  logger.info({ signal: await signal, timeoutMs: config.timeouts.drainMs }, 'the gateway drains');
  await gateway.drain();
  logger.info('the gateway has stopped');
  await output.end();
  process.exit(0);
}

/** One Ctrl-C can arrive more than once: from the terminal, and handed on by npm or `own-node.ts`. */
const SAME_SIGNAL_MS = 500;

/** The first signal to stop; another one, later, ends the process at once. */
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
  // Before there is a logger, or because it could not listen: one plain message, no stack.
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(error instanceof ConfigError ? `${reason}\n` : `agent-gateway: ${reason}\n`);
  process.exit(1);
}
