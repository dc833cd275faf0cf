import { Controller, Get, Inject, UseFilters } from '@nestjs/common';
import {
  HealthCheckService,
  HealthIndicatorService,
  type HealthCheckResult,
} from '@nestjs/terminus';
import { Access } from '../auth/access.decorator.ts';
import { GatewayState } from '../platform/server/gateway-state.ts';
import { PlainHealthCheck } from './health-check.decorator.ts';
import { HealthCheckFilter } from './health-check.filter.ts';
import { SECRET_FILES, type SecretFiles } from './secret-files.ts';
import { UpstreamProbes } from './upstream-probes.ts';

@Controller('health')
@Access('public')
@UseFilters(HealthCheckFilter)
export class ManagementController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly state: GatewayState,
    private readonly upstreams: UpstreamProbes,
    @Inject(SECRET_FILES) private readonly secretFiles: SecretFiles,
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
      () => (this.state.isDraining ? gateway.down({ state: 'draining' }) : gateway.up()),
      ...Object.entries(states).map(
        ([name, state]) =>
          () =>
            this.indicators.check(name).up({ state }),
      ),
      ...this.secretFiles.map(
        ({ name, isFileGood }) =>
          () =>
            this.indicators
              .check(name)
              .up({ state: isFileGood ? 'in use' : 'bad; the list from before is in use' }),
      ),
    ]);
  }
}
