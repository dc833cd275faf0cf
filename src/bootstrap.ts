import { ConfigError } from './config/config-error.ts';
import { loadConfig } from './config/load-config.ts';
import { startGateway } from './gateway.ts';
import { createLogger } from './log/create-logger.ts';

async function bootstrap(): Promise<void> {
  const config = loadConfig(process.env);
  const logger = createLogger(config.logLevel);
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
  process.exit(0);
}

/** The first signal to stop; a second one ends the process at once. */
function firstStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (isStopping) process.exit(1);
      isStopping = true;
      resolve(signal);
    };
    process.on('SIGTERM', stop).on('SIGINT', stop);
  });
}

try {
  await bootstrap();
} catch (error) {
  // Before there is a logger, or because it could not listen: one plain message, no stack.
  const message = error instanceof ConfigError ? error.message : `agent-gateway: ${String(error)}`;
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
