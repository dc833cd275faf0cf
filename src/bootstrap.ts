import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ConfigError } from './contract/config-error.ts';
import type { GatewayConfig } from './contract/gateway-config.ts';
import { loadConfig } from './contract/load-config.ts';
import { unknownSettings } from './contract/unknown-settings.ts';
import { startGateway } from './gateway.ts';
import { StandardOutput } from './platform/log/standard-output.ts';
import { filesAtCaps, openFileLimit } from './contract/open-files.ts';
import { setCollectorFlags } from './platform/process/v8-flags.ts';

/**
 * Runs the gateway until a stop signal has drained it, and ends the process.
 *
 * @param firstSignal resolves with the first stop signal, which may have come before the call.
 */
export async function bootstrap(firstSignal: Promise<NodeJS.Signals>): Promise<void> {
  endAtSecondSignal(firstSignal);
  try {
    await run(firstSignal);
  } catch (error) {
    // There is no logger yet, or the port is taken: print one plain message without a stack.
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(
      error instanceof ConfigError ? `${reason}\n` : `agent-gateway: ${reason}\n`,
    );
    process.exit(1);
  }
}

async function run(firstSignal: Promise<NodeJS.Signals>): Promise<void> {
  setCollectorFlags();
  const config = loadConfig(process.env);
  const output = new StandardOutput(config.logLevel);
  const { logger } = output;
  for (const { name, message } of unknownSettings(process.env)) {
    logger.warn({ setting: name }, message);
  }
  warnOfFewFiles(config.limits, logger);
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'the gateway failed and ends');
    process.exit(1);
  });
  // Node loads modules without a turn of the event loop. A signal that came meanwhile is reported in the next turn.
  await setImmediate();
  const gateway = await Promise.race([
    firstSignal.then(() => undefined),
    startGateway(config, logger, output),
  ]);
  if (gateway === undefined) {
    logger.info({ signal: await firstSignal }, 'the gateway ends before it has started');
    // The exit writes the log. A wait for it could end too early, because the start continues meanwhile.
    process.exit(0);
  }
  logger.info(
    {
      host: config.host ?? gateway.address,
      port: gateway.port,
      managementPort: gateway.managementPort,
    },
    'the gateway listens',
  );
  const signal = await firstSignal;
  logger.info({ signal, timeoutMs: config.timeouts.drainMs }, 'the gateway drains');
  const endsAtMs = performance.now() + config.timeouts.drainMs;
  // Somebody at a terminal presses Ctrl-C. There is no load balancer that must notice first.
  await gateway.drain({ hasLameDuck: signal !== 'SIGINT' });
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
function endAtSecondSignal(firstSignal: Promise<NodeJS.Signals>): void {
  void firstSignal.then(() => {
    const firstAtMs = performance.now();
    const stop = (): void => {
      if (performance.now() - firstAtMs > SAME_SIGNAL_MS) process.exit(1);
    };
    process.on('SIGTERM', stop).on('SIGHUP', stop).on('SIGINT', stop);
  });
}
