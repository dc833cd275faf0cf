import { Controller, Get, UseFilters } from '@nestjs/common';
import {
  HealthCheckService,
  HealthIndicatorService,
  type HealthCheckResult,
} from '@nestjs/terminus';
import { Access } from '../auth/access.decorator.ts';
import { SecretFiles } from '../platform/config/secret-files.ts';
import { GatewayState } from '../platform/server/gateway-state.ts';
import { PlainHealthCheck } from './health-check.decorator.ts';
import { HealthCheckFilter } from './health-check.filter.ts';
import { UpstreamProbes } from './upstream-probes.ts';

@Controller('health')
@Access('public')
@UseFilters(HealthCheckFilter)
export class ManagementController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly gateway: GatewayState,
    private readonly secretFiles: SecretFiles,
    private readonly upstreams: UpstreamProbes,
  ) {}

  /** The process answers. */
  @Get('live')
  @PlainHealthCheck()
  live(): Promise<HealthCheckResult> {
    return this.health.check([]);
  }

  /**
   * Answers 200 until the drain begins. It names upstreams and secret files but never fails for them: one
   * upstream's outage must not take every pod out of service, and an invalid secret file leaves the former list in
   * use.
   */
  @Get('ready')
  @PlainHealthCheck()
  async ready(): Promise<HealthCheckResult> {
    const states = await this.upstreams.states();
    const gateway = this.indicators.check('gateway');
    return this.health.check([
      () => (this.gateway.isDraining ? gateway.down({ state: 'draining' }) : gateway.up()),
      ...Object.entries(states).map(
        ([name, state]) =>
          () =>
            this.indicators.check(name).up({ state }),
      ),
      ...Object.entries(this.secretFiles.areGood).map(
        ([name, isFileGood]) =>
          () =>
            this.indicators
              .check(name)
              .up({ state: isFileGood ? 'in use' : 'bad; the list from before is in use' }),
      ),
    ]);
  }
}
