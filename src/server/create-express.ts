import express, { type Express } from 'express';

/** Express as both ports want it. */
export function createExpress(): Express {
  const app = express();
  // "/HEALTH" is another path than "/health".
  app.enable('case sensitive routing');
  app.disable('x-powered-by');
  app.disable('etag');
  // The query is passed on as bytes; nothing reads it parsed.
  app.set('query parser', false);
  return app;
}
