import { ConfigError } from './config/config-error.ts';
import { loadConfig } from './config/load-config.ts';
import { startGateway } from './gateway.ts';
import { createLogger } from './log/create-logger.ts';

async function bootstrap(): Promise<void> {
  const config = loadConfig(process.env);
  const logger = createLogger(config.logLevel);
  const gateway = await startGateway(config, logger);
  logger.info(
    { host: config.host, port: gateway.port, managementPort: gateway.managementPort },
    'the gateway listens',
  );
  const stop = (signal: NodeJS.Signals): void => {
    logger.info({ signal }, 'the gateway stops');
    gateway.state.phase = 'lame-duck';
    void gateway.close().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
}

try {
  await bootstrap();
} catch (error) {
  // Before there is a logger, or because it could not listen: one plain message, no stack.
  const message = error instanceof ConfigError ? error.message : `agent-gateway: ${String(error)}`;
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
