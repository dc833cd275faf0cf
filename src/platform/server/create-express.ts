import express, { type Express } from 'express';

/** Express with the settings of the public port. */
export function createExpress(): Express {
  const app = express();
  // "/HEALTH" is another path than "/health".
  app.enable('case sensitive routing');
  app.disable('x-powered-by');
  app.disable('etag');
  // The query is forwarded as bytes, so it is not parsed.
  app.set('query parser', false);
  return app;
}
