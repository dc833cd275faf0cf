import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Access } from '../auth/access.decorator.ts';
import { Telemetry } from '../platform/telemetry/telemetry.ts';

/** The metrics for Prometheus, on the management port. */
@Controller('metrics')
@Access('public')
export class MetricsController {
  constructor(private readonly telemetry: Telemetry) {}

  @Get()
  async read(@Res() response: Response): Promise<void> {
    const { registry } = this.telemetry;
    const body = await registry.metrics();
    // `send` is not used, because it reorders the parameters of a media type.
    response.setHeader('Content-Type', registry.contentType);
    response.setHeader('Cache-Control', 'no-store');
    response.end(body);
  }
}
