import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { ClientRequest } from '../http/client-request.ts';
import { checkDeclaredBody } from './request-body.ts';

/**
 * Refuses a body by its headers on every route, before any of it is read. It comes after the guard that checks the
 * credential. It is no interceptor, because a single one makes Nest run every request of the route through
 * observables.
 */
export class BodyCapGuard implements CanActivate {
  private readonly maxBodyBytes: number;

  constructor(maxBodyBytes: number) {
    this.maxBodyBytes = maxBodyBytes;
  }

  canActivate(context: ExecutionContext): true {
    const request = context.switchToHttp().getRequest<ClientRequest>();
    checkDeclaredBody(request, this.maxBodyBytes);
    return true;
  }
}
