import { Reflector } from '@nestjs/core';
import type { Scope } from '../contract/api-key.ts';

/** What a route asks for: nothing, or a credential that has this scope. */
export type AccessRule = 'public' | Scope;

/** States a route's access, on the controller or the method. A route without it does not start. */
export const Access = Reflector.createDecorator<AccessRule>();

const reflector = new Reflector();

/** The rule of a route: what its method declares, or else its controller. */
export function accessRuleOf(handler: Function, controller: Function): AccessRule | undefined {
  return reflector.getAllAndOverride(Access, [handler, controller]);
}

/** Whether a read token may come to a route. It opens GET and HEAD of the paths that its prefix covers. */
export function takesReadTokens(rule: AccessRule): boolean {
  return rule.startsWith('streams:') || rule.startsWith('shapes:');
}
