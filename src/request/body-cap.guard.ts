import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import { checkDeclaredBody } from './request-body.ts';

/**
 * Refuses, on every route, a body whose headers tell that it will not do, before reading any of it.
 * Comes after the guard that checks the credential. No interceptor: a single one on a route makes Nest
 * lead its every request through a chain of observables.
 */
@Injectable()
export class BodyCapGuard implements CanActivate {
  constructor(@InjectConfig() private readonly config: GatewayConfig) {}

  canActivate(context: ExecutionContext): true {
    return this.check(context.switchToHttp().getRequest<Request>());
  }

  /** True, or what is wrong thrown. */
  check(request: Request): true {
    checkDeclaredBody(request, this.config.maxBodyBytes);
    return true;
  }
}
