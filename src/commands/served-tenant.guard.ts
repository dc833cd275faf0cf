import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import { GatewayError } from '../errors/gateway-error.ts';

/** Refuses a fully-qualified command for another tenant than this deployment's. */
@Injectable()
export class ServedTenantGuard implements CanActivate {
  constructor(@InjectConfig() private readonly config: GatewayConfig) {}

  canActivate(context: ExecutionContext): boolean {
    const { tenant } = context.switchToHttp().getRequest<Request>().params;
    if (tenant === undefined || tenant === this.config.tenant) return true;
    throw new GatewayError(
      'tenant_not_served',
      `This deployment serves the tenant "${this.config.tenant}" only.`,
    );
  }
}
