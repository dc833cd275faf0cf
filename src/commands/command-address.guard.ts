import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { InjectConfig, type GatewayConfig } from '../contract/gateway-config.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { entityAddress } from './entity-address.ts';

/**
 * Checks the address in a command's path: the tenant must be this deployment's, the type and id must be valid. It
 * is a guard, so that the gateway does not ask for (`Expect: 100-continue`) or read a body for a wrong address.
 */
@Injectable()
export class CommandAddressGuard implements CanActivate {
  constructor(@InjectConfig() private readonly config: GatewayConfig) {}

  canActivate(context: ExecutionContext): boolean {
    const { params } = context.switchToHttp().getRequest<Request<Record<string, string>>>();
    const { tenant = this.config.tenant, type, id } = params;
    if (tenant !== this.config.tenant) {
      throw new GatewayError(
        'tenant_not_served',
        `This deployment serves the tenant "${this.config.tenant}" only.`,
      );
    }
    if (type !== undefined && id !== undefined) entityAddress(tenant, type, id);
    return true;
  }
}
