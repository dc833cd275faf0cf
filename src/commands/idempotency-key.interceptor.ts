import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import type { CommandOutcome, CommandResponse } from './commands.service.ts';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_RULE } from './idempotency-key.ts';

/**
 * Checks `Idempotency-Key` in the request, and sets `Idempotency-Replayed: true` in the response if the runtime
 * already had the command.
 */
@Injectable()
export class IdempotencyKeyInterceptor implements NestInterceptor<CommandOutcome, CommandResponse> {
  intercept(
    context: ExecutionContext,
    next: CallHandler<CommandOutcome>,
  ): Observable<CommandResponse> {
    // Before the body is read.
    idempotencyKeyOf(context.switchToHttp().getRequest<Request>());
    return next.handle().pipe(
      map(({ response, isReplay }) => {
        if (isReplay) {
          const answer = context.switchToHttp().getResponse<Response>();
          answer.setHeader('Idempotency-Replayed', 'true');
        }
        return response;
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
