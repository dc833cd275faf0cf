import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import { checkDeclaredBody } from './request-body.ts';

/** Refuses, on every route, a body whose headers tell that it will not do, before reading any of it. */
@Injectable()
export class BodyCapInterceptor implements NestInterceptor {
  constructor(@InjectConfig() private readonly config: GatewayConfig) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    checkDeclaredBody(context.switchToHttp().getRequest<Request>(), this.config.maxBodyBytes);
    return next.handle();
  }
}
