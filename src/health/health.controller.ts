import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { Access } from '../auth/access.decorator.ts';
import { InjectConfig, type GatewayConfig } from '../contract/gateway-config.ts';
import { drainingError } from '../platform/server/drain.ts';
import { GatewayState } from '../platform/server/gateway-state.ts';

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
  // With its API documentation the decorator would load `@nestjs/swagger` at every start, which takes longer than the rest.
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  check(): Promise<HealthCheckResult> {
    if (this.config.healthFailsOnDrain && this.state.isDraining) throw drainingError();
    return this.health.check([]);
  }
}
