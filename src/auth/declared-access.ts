import { Injectable, RequestMethod, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { accessRuleOf, type AccessRule } from './access.decorator.ts';

/** A route as its controller declares it. */
export interface DeclaredRoute {
  method: string;
  path: string;
  handler: string;
  access: AccessRule | undefined;
}

/** Stops the start if a route declares no access, so that nothing is open by omission. */
@Injectable()
export class DeclaredAccess implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  onModuleInit(): void {
    const open = this.routes().filter(({ access }) => access === undefined);
    if (open.length === 0) return;
    const names = open.map(({ handler }) => handler).join(', ');
    throw new Error(`these routes declare no access, so the gateway does not start: ${names}`);
  }

  /** Every route of every controller. */
  routes(): DeclaredRoute[] {
    return this.discovery.getControllers().flatMap(({ metatype }) => {
      if (typeof metatype !== 'function') return [];
      const prototype = metatype.prototype as object;
      return this.scanner
        .getAllMethodNames(prototype)
        .flatMap((name) => this.routesOf(metatype, prototype, name));
    });
  }

  private routesOf(controller: Function, prototype: object, name: string): DeclaredRoute[] {
    const handler = Reflect.get(prototype, name) as Function;
    const paths = Reflect.getMetadata(PATH_METADATA, handler) as string | string[] | undefined;
    if (paths === undefined) return [];
    const base = String(Reflect.getMetadata(PATH_METADATA, controller) ?? '');
    const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
    return [paths].flat().map((path) => ({
      method,
      path: `/${base}/${path}`.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1'),
      handler: `${controller.name}.${name}`,
      access: accessRuleOf(handler, controller),
    }));
  }
}
