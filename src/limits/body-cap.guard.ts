import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { ClientRequest } from '../http/client-request.ts';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import { checkDeclaredBody } from '../server/request-body.ts';

/**
 * Refuses, on every route, a body whose headers tell that it will not do, before reading any of it.
 * Comes after the guard that checks the credential. No interceptor: a single one on a route makes Nest
 * lead its every request through a chain of observables.
 */
@Injectable()
export class BodyCapGuard implements CanActivate {
  constructor(@InjectConfig() private readonly config: GatewayConfig) {}

  canActivate(context: ExecutionContext): true {
    const request = context.switchToHttp().getRequest<ClientRequest>();
    checkDeclaredBody(request, this.config.maxBodyBytes);
    return true;
  }
}
