import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { AppModule } from './app.module.ts';
import type { GatewayConfig } from './config/gateway-config.ts';
import { configureApp } from './configure-app.ts';
import { drain } from './drain/drain.ts';
import { GatewayState } from './health/gateway-state.ts';
import { ManagementModule } from './health/management.module.ts';
import { HttpServerAdapter } from './limits/http-server.adapter.ts';
import { NestLogger } from './log/nest-logger.ts';

/** A gateway that listens. */
export interface RunningGateway {
  app: NestExpressApplication;
  state: GatewayState;
  /** The ports it got, which differ from the settings where those say 0. */
  port: number;
  managementPort: number | undefined;
  /** Takes the gateway out of service without losing a request; see `drain`. */
  drain(): Promise<void>;
  /** Closes both ports, once the connections are gone. */
  close(): Promise<void>;
}

/** Creates the public and the management application and lets them listen. */
export async function startGateway(config: GatewayConfig, logger: Logger): Promise<RunningGateway> {
  const options = {
    bodyParser: false,
    logger: new NestLogger(logger),
    abortOnError: false,
  } as const;
  const state = new GatewayState();
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.with(config, logger),
    new HttpServerAdapter(config.maxBodyBytes),
    options,
  );
  const parts = configureApp(app, config, logger, state);
  const management =
    config.managementPort === 0
      ? undefined
      : await NestFactory.create<NestExpressApplication>(
          ManagementModule.with(config, state),
          options,
        );
  await management?.listen(config.managementPort, config.host);
  await app.listen(config.port, config.host);
  return {
    app,
    state,
    port: portOf(app),
    managementPort: management && portOf(management),
    drain: () => drain({ ...parts, state, logger, timeoutMs: config.timeouts.drainMs }),
    close: async () => {
      await Promise.all([app.close(), management?.close()]);
    },
  };
}

function portOf(app: NestExpressApplication): number {
  return (app.getHttpServer().address() as AddressInfo).port;
}
