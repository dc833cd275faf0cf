import type { ServerResponse } from 'node:http';
import { Controller, Delete, Get, Patch, Post, Put, Req, Res } from '@nestjs/common';
import { Access, RequiredScope } from '../auth/access.decorator.ts';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { ProxyService } from '../proxy/proxy.service.ts';
import { Upstreams } from '../proxy/upstream/upstreams.ts';

/** Forwards registrations to the runtime's admin API. URLs in bodies are neither checked nor rewritten. */
@Controller('registry')
@Access('api-key')
export class RegistryController {
  constructor(
    private readonly proxy: ProxyService,
    private readonly upstreams: Upstreams,
  ) {}

  @Get('{*path}')
  @RequiredScope('registry:read')
  read(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Post('{*path}')
  @RequiredScope('registry:write')
  register(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Put('{*path}')
  @RequiredScope('registry:write')
  replace(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Delete('{*path}')
  @RequiredScope('registry:write')
  remove(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Patch('{*path}')
  @RequiredScope('registry:write')
  update(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }
}
