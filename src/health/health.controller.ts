import { Controller, Get } from '@nestjs/common';
import { HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { Access } from '../auth/access.decorator.ts';
import { InjectConfig, type GatewayConfig } from '../contract/gateway-config.ts';
import { drainingError } from '../platform/server/drain.ts';
import { GatewayState } from '../platform/server/gateway-state.ts';
import { PlainHealthCheck } from './health-check.decorator.ts';

@Controller('health')
@Access('public')
export class HealthController {
  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly health: HealthCheckService,
    private readonly state: GatewayState,
  ) {}

  /**
   * The process answers. No upstream is checked, so that none can make the gateway look dead. During a drain it can
   * fail, for load balancers that can ask no other port.
   */
  @Get()
  @PlainHealthCheck()
  check(): Promise<HealthCheckResult> {
    if (this.config.healthFailsOnDrain && this.state.isDraining) throw drainingError();
    return this.health.check([]);
  }
}
