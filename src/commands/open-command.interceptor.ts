import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { finalize, type Observable } from 'rxjs';
import { OpenCommandLimit } from '../platform/limits/open-command-limit.ts';

/**
 * Counts a command as open from before its body is read until it is answered, even if its client disconnects: a
 * command with a key is still sent then.
 */
@Injectable()
export class OpenCommandInterceptor implements NestInterceptor {
  constructor(private readonly limit: OpenCommandLimit) {}

  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    this.limit.enter();
    return next.handle().pipe(finalize(() => this.limit.leave()));
  }
}
