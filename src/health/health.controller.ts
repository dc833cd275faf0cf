import { Controller, Get } from '@nestjs/common';
import { HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { Access } from '../auth/access.decorator.ts';
import { PlainHealthCheck } from './health-check.decorator.ts';

@Controller('health')
@Access('public')
export class HealthController {
  constructor(private readonly health: HealthCheckService) {}

  /** The process answers; no upstream is looked at, so that none of them can take it down. */
  @Get()
  @PlainHealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([]);
  }
}
