import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { OpenRequests } from '../request/open-requests.ts';
import { requestContextMiddleware } from '../request/request-context.middleware.ts';
import { RequestLog } from '../request/request-log.ts';

/** The way of every request on the management port before its route. */
export function configureManagement(app: NestExpressApplication, logger: Logger): void {
  const express = app.getHttpAdapter().getInstance() as Express;
  express.disable('x-powered-by');
  express.disable('etag');
  express.set('query parser', false);

  // Probes come every few seconds for good: their lines are for who looks for them.
  const level = logger.isLevelEnabled('debug') ? logger.level : 'silent';
  const requestLog = new RequestLog(logger.child({ listener: 'management' }, { level }));
  express.use(requestContextMiddleware(requestLog, new OpenRequests()));
}
