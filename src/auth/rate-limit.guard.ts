import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { requestContext } from '../platform/server/request-context.ts';
import type { RateLimit } from './rate-limit.ts';

/** Refuses requests of a caller beyond its rate. It comes after the guard that checks the credential. */
export class RateLimitGuard implements CanActivate {
  private readonly limit: RateLimit;

  constructor(limit: RateLimit) {
    this.limit = limit;
  }

  canActivate(context: ExecutionContext): true {
    const request = context.switchToHttp().getRequest<ClientRequest>();
    const { caller } = requestContext(request);
    if (!caller) return true;
    const waitMs = this.limit.take(caller.id);
    if (waitMs === 0) return true;
    throw new GatewayError(
      'rate_limited',
      `Too many requests ${caller.isSubject ? 'of the subject of this read token' : 'with this credential'}; wait as long as Retry-After says.`,
      {
        reason: 'requests_per_second',
        headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
      },
    );
  }
}
