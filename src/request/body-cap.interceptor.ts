import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import { checkDeclaredLength } from './request-body.ts';

/** Refuses, on every route, a body that declares itself too large, before a byte of it is read. */
@Injectable()
export class BodyCapInterceptor implements NestInterceptor {
  constructor(@InjectConfig() private readonly config: GatewayConfig) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    checkDeclaredLength(context.switchToHttp().getRequest<Request>(), this.config.maxBodyBytes);
    return next.handle();
  }
}
