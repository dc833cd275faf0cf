import type { ServerResponse } from 'node:http';
import { Controller, Delete, Get, Next, Post, Put, Req, Res } from '@nestjs/common';
import { Access } from '../auth/access.decorator.ts';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { ProxyService } from '../proxy/proxy.service.ts';
import { Upstreams } from '../proxy/upstream/upstreams.ts';

/**
 * Timelines: forwards the Durable Streams protocol to the history store. GET also serves HEAD.
 */
@Controller('streams')
export class StreamsController {
  constructor(
    private readonly proxy: ProxyService,
    private readonly upstreams: Upstreams,
  ) {}

  @Get('{*path}')
  @Access('streams:read')
  read(
    @Req() request: ClientRequest,
    @Res() response: ServerResponse,
    @Next() next: (error: Error) => void,
  ): void {
    this.proxy.read(request, response, this.upstreams.history, next);
  }

  @Put('{*path}')
  @Access('streams:write')
  create(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.history);
  }

  @Post('{*path}')
  @Access('streams:write')
  append(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.history);
  }

  @Delete('{*path}')
  @Access('streams:delete')
  remove(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.history);
  }
}
