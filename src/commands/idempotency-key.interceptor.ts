import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { tap, type Observable } from 'rxjs';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { requestContext } from '../platform/server/request-context.ts';
import { commandOf } from './command-record.ts';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_RULE } from './idempotency-key.ts';

/**
 * Checks `Idempotency-Key` in the request, and sets `Idempotency-Replayed: true` in the response if the runtime
 * already had the command.
 */
@Injectable()
export class IdempotencyKeyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    // Before the body is read.
    idempotencyKeyOf(request);
    return next.handle().pipe(
      tap(() => {
        if (!commandOf(requestContext(request))?.isReplay) return;
        const response = context.switchToHttp().getResponse<Response>();
        response.setHeader('Idempotency-Replayed', 'true');
      }),
    );
  }
}

/** The key of a request, or undefined. Throws `invalid_idempotency_key`. */
export function idempotencyKeyOf(request: Request): string | undefined {
  const keys = request.headersDistinct['idempotency-key'];
  if (keys === undefined) return undefined;
  const [key, ...more] = keys;
  if (key === undefined || more.length > 0 || !IDEMPOTENCY_KEY.test(key)) {
    throw new GatewayError(
      'invalid_idempotency_key',
      `Idempotency-Key ${IDEMPOTENCY_KEY_RULE}, given once.`,
    );
  }
  return key;
}
