import type { ServerResponse } from 'node:http';
import { Controller, Delete, Get, Patch, Post, Put, Req, Res } from '@nestjs/common';
import { Access } from '../auth/access.decorator.ts';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { ProxyService } from '../proxy/proxy.service.ts';
import { Upstreams } from '../proxy/upstream/upstreams.ts';

/** Forwards registrations to the runtime's admin API. URLs in bodies are neither checked nor rewritten. */
@Controller('registry')
export class RegistryController {
  constructor(
    private readonly proxy: ProxyService,
    private readonly upstreams: Upstreams,
  ) {}

  @Get('{*path}')
  @Access('registry:read')
  read(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Post('{*path}')
  @Access('registry:write')
  register(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Put('{*path}')
  @Access('registry:write')
  replace(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Delete('{*path}')
  @Access('registry:write')
  remove(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Patch('{*path}')
  @Access('registry:write')
  update(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }
}
