import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Scope } from '../contract/api-key.ts';
import {
  ACCESS_RULE,
  NAMED_PATH,
  REQUIRED_SCOPE,
  type AccessRule,
  type NamedPath,
} from './access.decorator.ts';

/** The access that a route declares. */
export interface RouteRule {
  access: AccessRule | undefined;
  /** The scope that an API key needs. */
  scope: Scope | undefined;
  /** The header that names another path, if there may be one. */
  namedPath?: NamedPath | undefined;
}

/** The same of a route that an API key opens. */
export interface KeyRule extends RouteRule {
  scope: Scope;
}

/** The rules of the routes. Each is looked up once. */
@Injectable()
export class RouteRules {
  private readonly rules = new Map<Function, Map<Function, RouteRule>>();

  constructor(private readonly reflector: Reflector) {}

  of(context: ExecutionContext): RouteRule {
    const controller = context.getClass();
    const handler = context.getHandler();
    const known = this.rules.get(controller)?.get(handler);
    if (known) return known;
    const targets = [handler, controller];
    const rule: RouteRule = {
      access: this.reflector.getAllAndOverride<AccessRule | undefined>(ACCESS_RULE, targets),
      scope: this.reflector.getAllAndOverride<Scope | undefined>(REQUIRED_SCOPE, targets),
      namedPath: this.reflector.getAllAndOverride<NamedPath | undefined>(NAMED_PATH, targets),
    };
    const ofController = this.rules.get(controller) ?? new Map<Function, RouteRule>();
    this.rules.set(controller, ofController.set(handler, rule));
    return rule;
  }

  /** The rule of a route that an API key may open. Throws a plain Error if the route declares no scope. */
  ofKey(context: ExecutionContext): KeyRule {
    const rule = this.of(context);
    // Start-up refuses such a route; this is the second lock.
    if (!hasScope(rule))
      throw new Error(`${context.getClass().name} declares no scope for a route`);
    return rule;
  }
}

function hasScope(rule: RouteRule): rule is KeyRule {
  return rule.scope !== undefined;
}
