import { Controller, Delete, Get, Patch, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Access } from '../auth/access.decorator.ts';
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
  read(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Post('{*path}')
  register(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Put('{*path}')
  replace(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Delete('{*path}')
  remove(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }

  @Patch('{*path}')
  update(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.proxy.forward(request, response, this.upstreams.runtimeAdmin);
  }
}
