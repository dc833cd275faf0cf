import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import {
  Controller,
  Get,
  Header,
  HttpCode,
  Module,
  Post,
  SetMetadata,
  UseFilters,
  UseGuards,
  UseInterceptors,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type INestApplication,
  type MiddlewareConsumer,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { map, type Observable } from 'rxjs';
import type { ClientRequest } from '../http/client-request.ts';
import { RequestContext, requestContext, setRequestContext } from './request-context.ts';
import { GatewayAdapter } from './gateway.adapter.ts';
import { RequestWay } from './request-way.ts';

class Closed implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.switchToHttp().getRequest<ClientRequest>().headers['x-key'] === 'let-in')
      return true;
    throw new Error('not let in');
  }
}

class Told implements ExceptionFilter {
  catch(error: Error, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<ServerResponse>();
    response.statusCode = 418;
    response.end(error.message);
  }
}

class Wrapped implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((value) => ({ wrapped: value })));
  }
}

/** Everything that can be declared on a controller, and nothing of it known to the gateway. */
@Controller('below')
@UseGuards(Closed)
@UseFilters(Told)
@UseInterceptors(Wrapped)
class BelowController {
  @Get('{*path}')
  @Header('X-Declared', 'yes')
  @HttpCode(203)
  @SetMetadata('any', 'thing')
  read(): string {
    return 'read';
  }

  @Post('{*path}')
  write(): string {
    return 'written';
  }
}

@Module({ controllers: [BelowController] })
class BelowModule {}

let app: INestApplication | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

async function create(module: Type, adapter = new GatewayAdapter({})) {
  app = await NestFactory.create(module, adapter, {
    logger: false,
    bodyParser: false,
    abortOnError: false,
  });
  return { app, adapter };
}

async function start(expressForReads: boolean) {
  const patterns: (string | undefined)[] = [];
  const { app, adapter } = await create(BelowModule);
  const way = new RequestWay({
    steps: [
      (request, response) => {
        const context = new RequestContext('the-request', request.url, '');
        setRequestContext(request, context);
        response.on('close', () => patterns.push(context.route));
        return true;
      },
    ],
    findHandler: (path) => (expressForReads ? undefined : adapter.prefixHandler(path)),
    router: adapter.express,
    mustWait: () => false,
    onFailure: (error) => {
      throw error;
    },
  });
  app.getHttpServer().on('request', way.take);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, patterns };
}

describe.each([
  ['by the gateway', false],
  ['by Express', true],
])('a read whose handler is found %s', (_, expressForReads) => {
  it('passes every guard, interceptor, filter and header that its controller declares', async () => {
    const { url, patterns } = await start(expressForReads);
    const letIn = await fetch(`${url}/below/a/b?c`, { headers: { 'x-key': 'let-in' } });
    expect({ status: letIn.status, body: await letIn.json() }).toEqual({
      status: 203,
      body: { wrapped: 'read' },
    });
    expect(letIn.headers.get('x-declared')).toBe('yes');
    expect(letIn.headers.get('content-type')).toBe('application/json');
    const refused = await fetch(`${url}/below/a/b`);
    expect({ status: refused.status, body: await refused.text() }).toEqual({
      status: 418,
      body: 'not let in',
    });
    const head = await fetch(`${url}/below/a`, { method: 'HEAD', headers: { 'x-key': 'let-in' } });
    expect(head.status).toBe(203);
    expect(patterns).toEqual(['/below/{*path}', '/below/{*path}', '/below/{*path}']);
  });
});

describe('what would hold for Express alone', () => {
  it('stops the start: middleware of a module', async () => {
    @Module({ controllers: [BelowController] })
    class WithMiddleware {
      configure(consumer: MiddlewareConsumer): void {
        consumer.apply(() => undefined).forRoutes('below');
      }
    }
    const { app } = await create(WithMiddleware);
    await expect(app.init()).rejects.toThrow('Middleware of Express is not called for reads');
  });

  it('stops the start: middleware, hooks, and routes for HEAD or all methods', async () => {
    const { app, adapter } = await create(BelowModule);
    expect(() => app.use(() => undefined)).toThrow('Middleware of Express is not called for reads');
    expect(() => app.enableCors()).toThrow('Middleware of Express is not called for reads');
    expect(() => adapter.setOnRequestHook()).toThrow('A request hook');
    expect(() => adapter.setOnResponseHook()).toThrow('A response hook');
    expect(() => adapter.head()).toThrow('declare a GET route');
    expect(() => adapter.all()).toThrow('declare a route for each method');
  });

  it('stops the start: a route that meets one of reads', async () => {
    @Controller('below')
    class Special {
      @Get('special')
      read(): string {
        return requestContext.name;
      }
    }
    @Module({ controllers: [BelowController, Special] })
    class Both {}
    const { app } = await create(Both);
    await expect(app.init()).rejects.toThrow(
      'the route GET /below/special meets GET /below/{*path}',
    );
  });
});
