import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ACCESS_RULE, type AccessRule } from './access.decorator.ts';
import { ApiKeyGuard } from './api-key.guard.ts';
import { ReadAccessGuard } from './read-access.guard.ts';

/** Applies to every route the access that the route itself declares. */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly rules = new Map<Function, Map<Function, AccessRule>>();

  constructor(
    private readonly reflector: Reflector,
    private readonly apiKeyGuard: ApiKeyGuard,
    private readonly readAccessGuard: ReadAccessGuard,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    switch (this.ruleOf(context)) {
      case 'public':
        return true;
      case 'api-key':
        return this.apiKeyGuard.canActivate(context);
      case 'api-key-or-read-token':
        return this.readAccessGuard.canActivate(context);
      default:
        // Start-up refuses such a route; this is the second lock.
        throw new Error(`${context.getClass().name} declares no access for a route`);
    }
  }

  /** Looked up once for each route. */
  private ruleOf(context: ExecutionContext): AccessRule | undefined {
    const controller = context.getClass();
    const handler = context.getHandler();
    const known = this.rules.get(controller)?.get(handler);
    if (known !== undefined) return known;
    const rule = this.reflector.getAllAndOverride<AccessRule | undefined>(ACCESS_RULE, [
      handler,
      controller,
    ]);
    const ofController = this.rules.get(controller) ?? new Map<Function, AccessRule>();
    if (rule !== undefined) this.rules.set(controller, ofController.set(handler, rule));
    return rule;
  }
}
