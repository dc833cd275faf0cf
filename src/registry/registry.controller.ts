import type { ServerResponse } from 'node:http';
import { Controller, Delete, Get, Patch, Post, Put, Req, Res } from '@nestjs/common';
import { Access } from '../auth/access.decorator.ts';
import type { ClientRequest } from '../http/client-request.ts';
import { ProxyService } from '../proxy/proxy.service.ts';
import { Upstreams } from '../upstream/upstreams.ts';

/** Registrations, passed on to the runtime's admin API; no URL in a body is looked at or rewritten. */
@Controller('registry')
@Access('api-key')
export class RegistryController {
  constructor(
    private readonly proxy: ProxyService,
    private readonly upstreams: Upstreams,
  ) {}

  @Get('{*path}')
  read(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Post('{*path}')
  register(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Put('{*path}')
  replace(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Delete('{*path}')
  remove(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Patch('{*path}')
  update(@Req() request: ClientRequest, @Res() response: ServerResponse): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }
}
