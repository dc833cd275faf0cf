import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { ClientRequest } from '../http/client-request.ts';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import { checkDeclaredBody } from '../server/request-body.ts';

/**
 * Refuses a body by its headers on every route, before any of it is read. It comes after the guard that checks the
 * credential. It is no interceptor, because a single one makes Nest run every request of the route through
 * observables.
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
