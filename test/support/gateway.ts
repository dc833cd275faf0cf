import type { Server } from 'node:http';
import { Writable } from 'node:stream';
import { loadConfig } from '../../src/contract/load-config.ts';
import { startGateway, type RunningGateway } from '../../src/gateway.ts';
import { createLogger } from '../../src/platform/log/create-logger.ts';
import { StandardOutput } from '../../src/platform/log/standard-output.ts';
import { GatewayAdapter } from '../../src/platform/server/gateway.adapter.ts';
import { watchContract } from './contract/contract-watch.ts';
import { API_KEY, API_KEY_NAME, AUTHORIZED, READ_TOKEN_SECRET } from './credentials.ts';
import { upstreamsOrNobody } from './nobody.ts';

export { API_KEY, API_KEY_NAME, AUTHORIZED, READ_TOKEN_SECRET };

/** Set by `jest.config.js`: Express finds the handlers of reads too, which must change nothing else. */
const { EXPRESS_FOR_READS: expressForReads = false } = globalThis as {
  EXPRESS_FOR_READS?: boolean;
};

export interface TestGateway {
  /** Its public base URL. */
  url: string;
  port: number;
  managementUrl: string | undefined;
  running: RunningGateway;
  /** What it has logged so far, a line each. */
  logLines: string[];
  /** Throws if it gave any answer that `docs/openapi.json` does not allow. */
  stop(): Promise<void>;
}

/** Only its metrics are used. */
const LOG_OUTPUT = new StandardOutput('silent');

/**
 * Starts a real, listening gateway on a free port, in this process. Upstreams that a test does not
 * name refuse connections.
 */
export async function startTestGateway(env: Record<string, string> = {}): Promise<TestGateway> {
  const config = loadConfig({
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_PORT: '0',
    GATEWAY_MANAGEMENT_PORT: '0',
    GATEWAY_API_KEYS: API_KEY,
    GATEWAY_READ_TOKEN_SECRETS: READ_TOKEN_SECRET,
    // Most doubles of the runtime have the paths and the errors of one before 1.7.4.
    GATEWAY_RUNTIME_API: 'classic',
    ...upstreamsOrNobody(env),
  });
  const logLines: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logLines.push(...chunk.toString('utf8').split('\n').filter(Boolean));
      done();
    },
  });
  const logger = createLogger(config.logLevel, sink);
  const running = await startGateway(config, logger, LOG_OUTPUT);
  if (expressForReads) running.app.get(GatewayAdapter).prefixHandler = () => undefined;
  const server = running.app.getHttpServer() as Server;
  const checkContract = watchContract(server, {
    streams: config.history.url,
    shapes: config.sync.url,
    registry: config.runtime.adminUrl,
  });
  return {
    url: `http://127.0.0.1:${running.port}`,
    port: running.port,
    managementUrl:
      running.managementPort === undefined
        ? undefined
        : `http://127.0.0.1:${running.managementPort}`,
    running,
    logLines,
    stop: async () => {
      const closed = running.close();
      server.closeAllConnections();
      await closed;
      checkContract();
    },
  };
}
