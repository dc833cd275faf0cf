import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { Scope } from '../contract/api-key.ts';

/** What a route asks for: nothing, or a credential that has this scope. */
export type AccessRule = 'public' | Scope;

const ACCESS_RULE = 'gateway:access';

/** States a route's access, on the controller or the method. A route without it does not start. */
export const Access = (rule: AccessRule): CustomDecorator => SetMetadata(ACCESS_RULE, rule);

/** The rule of a route: what its method declares, or else its controller. */
export function accessRuleOf(handler: object, controller: object): AccessRule | undefined {
  return (Reflect.getMetadata(ACCESS_RULE, handler) ??
    Reflect.getMetadata(ACCESS_RULE, controller)) as AccessRule | undefined;
}

/** Whether a read token may come to a route. It opens GET and HEAD of the paths that its prefix covers. */
export function takesReadTokens(rule: AccessRule): boolean {
  return rule.startsWith('streams:') || rule.startsWith('shapes:');
}
