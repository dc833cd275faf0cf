import type { ServerResponse } from 'node:http';
import { Controller, Get, Next, Req, Res } from '@nestjs/common';
import { Access } from '../auth/access.decorator.ts';
import { accessOf } from '../auth/request-access.ts';
import { InjectConfig, type GatewayConfig } from '../contract/gateway-config.ts';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { ProxyService } from '../proxy/proxy.service.ts';
import { Upstreams } from '../proxy/upstream/upstreams.ts';
import { requestContext } from '../platform/server/request-context.ts';
import { loggedShape } from './logged-shape.ts';
import { shapeQuery } from './shape-query.ts';

/** The live catalog: forwards shape reads to the sync engine. */
@Controller('shapes')
export class ShapesController {
  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly proxy: ProxyService,
    private readonly upstreams: Upstreams,
  ) {}

  @Get('{*path}')
  @Access('shapes:read')
  read(
    @Req() request: ClientRequest,
    @Res() response: ServerResponse,
    @Next() next: (error: Error) => void,
  ): void {
    const context = requestContext(request);
    const { readToken } = accessOf(context) ?? {};
    const { sync, syncSecret } = this.upstreams;
    context.logged = () => loggedShape(context.query, this.config.shapes.tables);
    const query = shapeQuery(context, readToken, this.config, syncSecret);
    this.proxy.read(request, response, sync, next, query);
  }
}
