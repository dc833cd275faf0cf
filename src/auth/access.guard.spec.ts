import { Reflector } from '@nestjs/core';
import { describe, expect, it } from '@jest/globals';
import { executionContext } from '../../test/support/execution-context.ts';
import { Access, type AccessRule } from './access.decorator.ts';
import { AccessGuard } from './access.guard.ts';
import type { ApiKeyGuard } from './api-key.guard.ts';
import type { ReadAccessGuard } from './read-access.guard.ts';
import { RouteRules } from './route-rules.ts';

@Access('api-key')
class Controller {
  ofController(): void {}

  @Access('public')
  open(): void {}

  @Access('api-key-or-read-token')
  forReaders(): void {}

  @Access('everybody' as AccessRule)
  unknown(): void {}
}

describe('AccessGuard', () => {
  const asked: string[] = [];
  const guardOf = (name: string) => ({
    canActivate: () => {
      asked.push(name);
      return false;
    },
  });
  const guard = new AccessGuard(
    new RouteRules(new Reflector()),
    guardOf('key') as unknown as ApiKeyGuard,
    guardOf('read') as unknown as ReadAccessGuard,
  );
  /** What it answers, and which guard it has asked. */
  function judged(name: 'ofController' | 'open' | 'forReaders' | 'unknown'): unknown[] {
    asked.length = 0;
    return [guard.canActivate(executionContext({}, Controller, name)), ...asked];
  }

  it('lets everybody in on a public route', () => {
    expect(judged('open')).toEqual([true]);
  });

  it('leaves the answer to the guard of what the route declares, or else its controller', () => {
    expect(judged('ofController')).toEqual([false, 'key']);
    expect(judged('forReaders')).toEqual([false, 'read']);
    // The rule of a route is remembered for that route alone.
    expect(judged('ofController')).toEqual([false, 'key']);
    expect(judged('open')).toEqual([true]);
  });

  it('lets nobody in where no access is declared, or one that it does not know', () => {
    expect(() => guard.canActivate(executionContext({}))).toThrow('declares no access');
    expect(() => judged('unknown')).toThrow('Controller declares no access for a route');
  });
});
