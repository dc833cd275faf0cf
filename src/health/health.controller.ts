import { Controller, Get } from '@nestjs/common';
import { HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { Access } from '../auth/access.decorator.ts';
import { PlainHealthCheck } from './health-check.decorator.ts';

@Controller('health')
@Access('public')
export class HealthController {
  constructor(private readonly health: HealthCheckService) {}

  /** The process answers. No upstream is checked, so that none can make the gateway look dead. */
  @Get()
  @PlainHealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([]);
  }
}
