import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { ApiKeyGuard } from './api-key.guard.ts';
import { ReadAccessGuard } from './read-access.guard.ts';
import { RouteRules } from './route-rules.ts';

/** Applies to every route the access that the route declares. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly rules: RouteRules,
    private readonly apiKeyGuard: ApiKeyGuard,
    private readonly readAccessGuard: ReadAccessGuard,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    switch (this.rules.of(context).access) {
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
}
