import { accessOf } from './request-access.ts';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { requestContext } from '../platform/server/request-context.ts';
import type { RateLimit } from '../platform/limits/rate-limit.ts';

/** Refuses requests of a credential beyond its rate. It comes after the guard that checks the credential. */
export class RateLimitGuard implements CanActivate {
  private readonly limit: RateLimit;

  constructor(limit: RateLimit) {
    this.limit = limit;
  }

  canActivate(context: ExecutionContext): true {
    const request = context.switchToHttp().getRequest<ClientRequest>();
    const access = accessOf(requestContext(request));
    if (!access) return true;
    const waitMs = this.limit.take(access.credentialId);
    if (waitMs === 0) return true;
    throw new GatewayError(
      'rate_limited',
      'Too many requests with this credential; wait as long as Retry-After says.',
      {
        reason: 'requests_per_second',
        headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
      },
    );
  }
}
