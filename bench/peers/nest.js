import 'reflect-metadata';
import {
  Controller,
  Get,
  HttpCode,
  Module,
  Param,
  Post,
  Req,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { map } from 'rxjs';
import { Pool } from '../../node_modules/undici/index.js';
import { authorization, duties, port, prefix, upstreamOrigin } from './front.js';

/**
 * The least that a command can cost in the design of the gateway: Nest on Express with a guard, an interceptor for
 * `Idempotency-Key` and a controller, and undici to the runtime. It keeps no log, counts nothing, limits nothing and
 * tries once, unless it has the duties. It is plain JavaScript, so the decorators are called as functions.
 */
const pool = new Pool(upstreamOrigin, { connections: null, pipelining: 1 });

class KeyGuard {
  canActivate(context) {
    const http = context.switchToHttp();
    const [request, response] = [http.getRequest(), http.getResponse()];
    if (duties) return duties.beginCommand(request, response, authorization) !== undefined;
    return request.headers.authorization === authorization;
  }
}

class IdempotencyKeyInterceptor {
  intercept(context, next) {
    const http = context.switchToHttp();
    const [request, response] = [http.getRequest(), http.getResponse()];
    request.idempotencyKey = request.headers['idempotency-key'];
    return next.handle().pipe(
      map(({ isReplay, ...body }) => {
        if (isReplay) response.setHeader('Idempotency-Replayed', 'true');
        return body;
      }),
    );
  }
}

class Commands {
  async send(type, id, request) {
    const key = request.idempotencyKey;
    const url = `/${type}/${id}`;
    const { body } = await pool.request({
      method: 'POST',
      path: `/${type}/${encodeURIComponent(id)}/wake/send`,
      headers: {
        'content-type': request.headers['content-type'],
        ...(key !== undefined && { 'idempotency-key': key }),
        ...duties?.headersOfCommand(request.res, type, id),
      },
      body: await bytesOf(request),
    });
    const { invocationId, status } = await body.json();
    const isReplay = status === 'PreviouslyAccepted';
    duties?.audited(request.res, url, invocationId);
    return { url, restate: { invocationId }, isReplay };
  }

  health() {}
}

async function bytesOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function decorated(type, name, decorators) {
  const descriptor = Object.getOwnPropertyDescriptor(type.prototype, name);
  for (const decorate of decorators) decorate(type.prototype, name, descriptor);
}

for (const [index, parameter] of [Param('type'), Param('id'), Req()].entries()) {
  parameter(Commands.prototype, 'send', index);
}
decorated(Commands, 'send', [
  Post(`${prefix}/:type/:id/wake/send`),
  HttpCode(202),
  UseGuards(KeyGuard),
  UseInterceptors(IdempotencyKeyInterceptor),
]);
decorated(Commands, 'health', [Get('health')]);
Controller()(Commands);

class App {}
Module({ controllers: [Commands] })(App);

const app = await NestFactory.create(App, { logger: false, bodyParser: false });
await app.listen(port, '127.0.0.1');
