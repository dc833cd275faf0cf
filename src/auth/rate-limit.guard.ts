import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { requestContext } from '../platform/server/request-context.ts';

const MS_PER_SECOND = 1_000;
/** So many callers are remembered. Read tokens without a subject count, and their number has no bound. */
const MAX_CALLERS = 50_000;
/** Tolerance for rounding errors in sums of fractions of a millisecond. */
const ROUNDING_MS = 1e-6;

/**
 * Refuses requests of a caller beyond its rate. It comes after the guard that checks the credential. The rate has a burst of
 * one second: the generic cell rate algorithm (ITU-T I.371), which stores one number per caller.
 */
export class RateLimitGuard implements CanActivate {
  private readonly intervalMs: number;
  private readonly now: () => number;
  /** The theoretical arrival time of the caller's last request, as if all requests were evenly spaced. */
  private readonly dueAtMs = new LRUCache<string, number>({ max: MAX_CALLERS });

  /** `now` gives milliseconds that only grow. */
  constructor(requestsPerSecond: number, now: () => number = () => performance.now()) {
    this.intervalMs = MS_PER_SECOND / requestsPerSecond;
    this.now = now;
  }

  canActivate(context: ExecutionContext): true {
    const request = context.switchToHttp().getRequest<ClientRequest>();
    const { caller } = requestContext(request);
    if (!caller) return true;
    const waitMs = this.take(caller.id);
    if (waitMs === 0) return true;
    throw new GatewayError(
      'rate_limited',
      `Too many requests ${caller.isSubject ? 'of the subject of this read token' : 'with this credential'}; wait as long as Retry-After says.`,
      {
        reason: 'requests_per_second',
        headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / MS_PER_SECOND))) },
      },
    );
  }

  /** Counts a request. Returns 0 if it is within the limit, or else after how many milliseconds one would be. */
  take(callerId: string): number {
    const nowMs = this.now();
    const dueAtMs = Math.max(this.dueAtMs.get(callerId) ?? nowMs, nowMs) + this.intervalMs;
    // Even a rate of one per second allows the first request.
    const waitMs = dueAtMs - nowMs - Math.max(MS_PER_SECOND, this.intervalMs);
    if (waitMs > ROUNDING_MS) return waitMs;
    this.dueAtMs.set(callerId, dueAtMs);
    return 0;
  }
}
