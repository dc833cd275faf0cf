import { Controller, Get } from '@nestjs/common';
import { EXCEPTION_FILTERS_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryModule, DiscoveryService, MetadataScanner, NestFactory } from '@nestjs/core';
import { describe, expect, it } from '@jest/globals';
import { Access } from '../../src/auth/access.decorator.ts';
import { DeclaredAccess } from '../../src/auth/declared-access.ts';
import { testGateway } from '../support/scripted-gateway.ts';

const COMMANDS = ['spawn', 'a/:type/:id/send', 'a/:type/:id/control'];
/** The scope of each method. */
const METHODS = {
  streams: { GET: 'read', PUT: 'write', POST: 'write', DELETE: 'delete' },
  registry: { GET: 'read', POST: 'write', PUT: 'write', DELETE: 'write', PATCH: 'write' },
};

/** Every route of the contract. Express serves HEAD with GET. */
const ROUTES = [
  'GET /health public',
  ...COMMANDS.flatMap((path) => [
    `POST /api/${path} commands`,
    `POST /api/t/:tenant/${path} commands`,
  ]),
  ...Object.entries(METHODS).flatMap(([prefix, scopes]) =>
    Object.entries(scopes).map(
      ([method, scope]) => `${method} /${prefix}/{*path} ${prefix}:${scope}`,
    ),
  ),
  'GET /shapes/{*path} shapes:read',
];

describe('the access of the routes', () => {
  describe('of the gateway', () => {
    const gateway = testGateway();

    it('is declared for every one of them, and there are no others', () => {
      const routes = gateway.running.app.get(DeclaredAccess, { strict: false }).routes();
      const lines = routes.map(({ method, path, access }) => `${method} ${path} ${access}`);
      expect(lines.sort()).toEqual(ROUTES.sort());
    });

    // What fails in a read behind its handler's return goes to the global filter alone.
    it('comes with no filter of a route or controller', () => {
      const { app } = gateway.running;
      const controllers = app.get(DiscoveryService, { strict: false }).getControllers();
      const declaring = controllers.flatMap(({ metatype }) => {
        const { prototype } = metatype as Function & { prototype: object };
        const names = new MetadataScanner().getAllMethodNames(prototype);
        return [metatype, ...names.map((name) => Reflect.get(prototype, name))] as object[];
      });
      expect(declaring.length).toBeGreaterThan(ROUTES.length / 2);
      const filtered = declaring.filter((one) =>
        Reflect.hasMetadata(EXCEPTION_FILTERS_METADATA, one),
      );
      expect(filtered).toEqual([]);
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
    function controllerWith(decorate: (controller: Function, handler: PropertyDescriptor) => void) {
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

    it.each<[what: string, message: string, controller: ReturnType<typeof controllerWith>]>([
      [
        'states none for one of its routes',
        'these routes declare no access, so the gateway does not start: Probe.read',
        controllerWith(() => undefined),
      ],
    ])('that %s does not start: %s', async (_what, message, controller) => {
      await expect(start(controller)).rejects.toThrow(message);
    });

    it.each([
      ['class', (controller: Function) => void Access('commands')(controller)],
      [
        'method',
        (controller: Function, handler: PropertyDescriptor) =>
          void Access('commands')(controller.prototype, 'read', handler),
      ],
    ])('that states it on the %s starts', async (_place, decorate) => {
      await expect(start(controllerWith(decorate))).resolves.toBeUndefined();
    });
  });
});
