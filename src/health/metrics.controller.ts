import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Access } from '../auth/access.decorator.ts';
import { expose } from '../platform/telemetry/exposition.ts';
import { Telemetry } from '../platform/telemetry/telemetry.ts';

/** The metrics for Prometheus, on the management port. */
@Controller('metrics')
@Access('public')
export class MetricsController {
  constructor(private readonly telemetry: Telemetry) {}

  @Get()
  async read(@Req() request: Request, @Res() response: Response): Promise<void> {
    const { contentType, body } = await expose(this.telemetry.registry, request.headers.accept);
    // `send` is not used, because it reorders the parameters of a media type.
    response.setHeader('Content-Type', contentType);
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('Vary', 'Accept');
    response.end(body);
  }
}
