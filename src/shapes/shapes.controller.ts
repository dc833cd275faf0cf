import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Access } from '../auth/access.decorator.ts';
import { InjectConfig, type GatewayConfig } from '../config/gateway-config.ts';
import { ProxyService } from '../proxy/proxy.service.ts';
import { Upstreams } from '../upstream/upstreams.ts';
import { requestContext } from '../request/request-context.ts';
import { shapeQuery } from './shape-query.ts';

/** The live catalog: shape reads, passed on to the sync engine. GET stands for HEAD too. */
@Controller('shapes')
@Access('api-key-or-read-token')
export class ShapesController {
  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly proxy: ProxyService,
    private readonly upstreams: Upstreams,
  ) {}

  @Get('{*path}')
  read(@Req() request: Request, @Res() response: Response): Promise<void> {
    const query = shapeQuery(requestContext(request), this.config);
    return this.proxy.forward(request, response, this.upstreams.sync, query);
  }
}
