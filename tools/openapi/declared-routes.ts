import { NestFactory } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { pino } from 'pino';
import { SecretFiles } from '../../src/platform/config/secret-files.ts';
import { AppModule } from '../../src/app.module.ts';
import type { AccessRule } from '../../src/auth/access.decorator.ts';
import { DeclaredAccess } from '../../src/auth/declared-access.ts';
import { loadConfig } from '../../src/contract/load-config.ts';
import { NameResolver } from '../../src/platform/names/name-resolver.ts';
import { GatewayAdapter } from '../../src/platform/server/gateway.adapter.ts';
import { GatewayState } from '../../src/platform/server/gateway-state.ts';
import { Telemetry } from '../../src/platform/telemetry/telemetry.ts';
import { METHODS, type Method } from './openapi.ts';

/** A route of the public port, as its controller declares it. */
export interface DeclaredRoute {
  /** `Controller.method`. A handler with several paths is several routes. */
  handler: string;
  path: string;
  method: Method;
  tag: string;
  /** Nest's default status for the handler. */
  successStatus: string;
  access: AccessRule;
}

/** Creates the application without starting it, and reads its routes. */
export async function declaredRoutes(): Promise<DeclaredRoute[]> {
  const config = loadConfig({ GATEWAY_API_KEYS: 'only-for-its-routes' });
  const logger = pino({ level: 'silent' });
  const adapter = new GatewayAdapter({});
  const module = AppModule.with({
    config,
    adapter,
    state: new GatewayState(),
    logger,
    names: new NameResolver(0),
    telemetry: new Telemetry(),
    secretFiles: new SecretFiles(logger),
  });
  const app = await NestFactory.create(module, adapter, { logger: false, abortOnError: false });
  try {
    const declared = app.get(DeclaredAccess, { strict: false }).routes();
    const { paths } = SwaggerModule.createDocument(app, new DocumentBuilder().build(), {
      operationIdFactory: (controller, method) => `${controller}.${method}`,
    });
    return Object.entries(paths).flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = item[method];
        if (!operation) return [];
        // Nest numbers the operations of a handler with several paths.
        const handler = (operation.operationId ?? '').replace(/\[\d+\]$/, '');
        const access = declared.find((route) => route.handler === handler)?.access;
        const [tag] = operation.tags ?? [];
        const [successStatus] = Object.keys(operation.responses);
        if (!access || !tag || !successStatus) throw new Error(`${handler} declares too little`);
        return [{ handler, path, method, tag, successStatus, access }];
      }),
    );
  } finally {
    await app.close();
  }
}
