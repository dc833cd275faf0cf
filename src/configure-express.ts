import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express } from 'express';

/** What both ports want of Express; returns it, for the way of a request to be laid. */
export function configureExpress(app: NestExpressApplication): Express {
  const express = app.getHttpAdapter().getInstance() as Express;
  // "/HEALTH" is another path than "/health". Express's own setting comes too late for it: Nest's
  // adapter has made the router, which takes the setting over once.
  Object.assign(express.router, { caseSensitive: true });
  express.disable('x-powered-by');
  express.disable('etag');
  // The query is passed on as bytes; nothing reads it parsed.
  express.set('query parser', false);
  return express;
}
