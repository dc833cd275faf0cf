import { Controller, Get, UseFilters } from '@nestjs/common';
import { DiscoveryModule, NestFactory, BaseExceptionFilter } from '@nestjs/core';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Access, RequiredScope } from '../../src/auth/access.decorator.ts';
import { DeclaredAccess } from '../../src/auth/declared-access.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const COMMANDS = ['spawn', 'a/:type/:id/send', 'a/:type/:id/control'];
const METHODS = {
  streams: ['GET', 'PUT', 'POST', 'DELETE'],
  registry: ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'],
};

/** Every route of the contract. Express serves HEAD with GET. */
const ROUTES = [
  'GET /health public',
  ...COMMANDS.flatMap((path) => [
    `POST /api/${path} api-key`,
    `POST /api/t/:tenant/${path} api-key`,
  ]),
  ...METHODS.streams.map((method) => `${method} /streams/{*path} api-key-or-read-token`),
  'GET /shapes/{*path} api-key-or-read-token',
  ...METHODS.registry.map((method) => `${method} /registry/{*path} api-key`),
];

describe('the access of the routes', () => {
  describe('of the gateway', () => {
    let gateway: TestGateway;
    beforeAll(async () => (gateway = await startTestGateway()));
    afterAll(() => gateway?.stop());

    it('is declared for every one of them, and there are no others', () => {
      const routes = gateway.running.app.get(DeclaredAccess, { strict: false }).routes();
      const lines = routes.map(({ method, path, access }) => `${method} ${path} ${access}`);
      expect(lines.sort()).toEqual(ROUTES.sort());
    });

    it('asks every route but the health check for a credential', async () => {
      for (const route of ROUTES) {
        const [method = '', pattern = ''] = route.split(' ');
        const path = pattern
          .replace('{*path}', 'v1/shape')
          .replace(':tenant', 'default')
          .replace(':type', 'chat')
          .replace(':id', 'a1');
        const answer = await fetch(gateway.url + path, { method });
        expect([route, answer.status]).toEqual([route, route.endsWith('public') ? 200 : 401]);
      }
    });
  });

  describe('of a controller', () => {
    /** Decorators by hand: this file is run with its types stripped and nothing else. */
    function controllerWith(
      decorate: (controller: Function, handler: PropertyDescriptor) => void,
      { scope = true } = {},
    ) {
      class Probe {
        open(): string {
          return 'served';
        }
        read(): string {
          return 'served';
        }
      }
      const handler = (name: 'open' | 'read') =>
        Object.getOwnPropertyDescriptor(Probe.prototype, name) ?? {};
      Controller('probe')(Probe);
      Get('open')(Probe.prototype, 'open', handler('open'));
      Access('public')(Probe.prototype, 'open', handler('open'));
      Get('read')(Probe.prototype, 'read', handler('read'));
      if (scope) RequiredScope('commands')(Probe);
      decorate(Probe, handler('read'));
      return Probe;
    }

    async function start(controller: ReturnType<typeof controllerWith>): Promise<void> {
      const module = {
        module: class Root {},
        imports: [DiscoveryModule],
        providers: [DeclaredAccess],
        controllers: [controller],
      };
      const app = await NestFactory.create(module, { logger: false, abortOnError: false });
      try {
        await app.init();
      } finally {
        await app.close();
      }
    }

    it('that states none for one of its routes does not start', async () => {
      await expect(start(controllerWith(() => undefined))).rejects.toThrow(
        'these routes declare no access, so the gateway does not start: Probe.read',
      );
    });

    it('that states no scope for a route that is not public does not start', async () => {
      const probe = controllerWith((controller) => Access('api-key')(controller), { scope: false });
      await expect(start(probe)).rejects.toThrow(
        'these routes declare no scope, so the gateway does not start: Probe.read',
      );
    });

    // What fails in a read behind its handler's return goes to the global filter alone.
    it('that has a filter of its own does not start', async () => {
      const probe = controllerWith((controller) => {
        Access('api-key')(controller);
        UseFilters(new BaseExceptionFilter())(controller);
      });
      await expect(start(probe)).rejects.toThrow(
        'these routes have a filter of their own, which reads would pass by, so the gateway does not start: Probe.open, Probe.read',
      );
    });

    it.each([
      ['class', (controller: Function) => void Access('api-key')(controller)],
      [
        'method',
        (controller: Function, handler: PropertyDescriptor) =>
          void Access('api-key')(controller.prototype, 'read', handler),
      ],
    ])('that states it on the %s starts', async (_place, decorate) => {
      await expect(start(controllerWith(decorate))).resolves.toBeUndefined();
    });
  });
});
