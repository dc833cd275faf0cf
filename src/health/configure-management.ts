import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { configureExpress } from '../configure-express.ts';
import { answerHeadersMiddleware } from '../request/answer-headers.middleware.ts';
import { OpenRequests } from '../request/open-requests.ts';
import { requestContextMiddleware } from '../request/request-context.middleware.ts';
import { RequestLog } from '../request/request-log.ts';

/** The way of every request on the management port before its route. */
export function configureManagement(app: NestExpressApplication, logger: Logger): void {
  const express = configureExpress(app);
  // Probes come every few seconds for good: their lines are for who looks for them.
  const level = logger.isLevelEnabled('debug') ? logger.level : 'silent';
  const requestLog = new RequestLog(logger.child({ listener: 'management' }, { level }));
  express.use(requestContextMiddleware([requestLog], new OpenRequests()), answerHeadersMiddleware);
}
