import type { RequestListener } from 'node:http';
import type { Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { ReadAccessGuard } from './auth/read-access.guard.ts';
import { ProblemFilter } from './errors/problem.filter.ts';
import type { RateLimitGuard } from './limits/rate-limit.guard.ts';
import type { Connections } from './server/connections.ts';
import { BodyCapGuard } from './request/body-cap.guard.ts';
import { Newcomers } from './request/newcomers.ts';
import type { Middleware, ReadPipelineParts } from './request/read-pipeline.ts';
import { ShapesController } from './shapes/shapes.controller.ts';
import { StreamsController } from './streams/streams.controller.ts';

/** What the short way of reads is made of: the very parts that Nest leads other requests through. */
export function readParts(
  app: NestExpressApplication,
  middleware: readonly Middleware[],
  rateLimit: RateLimitGuard | undefined,
  connections: Connections,
  otherwise: RequestListener,
): ReadPipelineParts {
  const part = <Part>(type: Type<Part>): Part => app.get(type, { strict: false });
  const filter = part(ProblemFilter);
  const streams = part(StreamsController);
  const shapes = part(ShapesController);
  const newcomers = new Newcomers(() => connections.accepted);
  // The order in which Nest calls them.
  const guards = [part(ReadAccessGuard), part(BodyCapGuard), rateLimit];
  return {
    middleware,
    checks: guards.flatMap((guard) => (guard ? [(request: Request) => guard.check(request)] : [])),
    routes: [
      { prefix: '/streams', pattern: '/streams/{*path}', read: reader(streams) },
      { prefix: '/shapes', pattern: '/shapes/{*path}', read: reader(shapes) },
    ],
    isHeldUp: () => newcomers.areComing(),
    onFailure: (error, request, response) => filter.answer(error, request, response),
    otherwise,
  };
}

function reader(controller: { read(request: Request, response: Response): Promise<void> }) {
  return (request: Request, response: Response): Promise<void> =>
    controller.read(request, response);
}
