import { Module } from '@nestjs/common';
import { ForwardService } from './forward/forward.service.ts';
import { ProxyService } from './proxy.service.ts';
import { OpenReadLimits } from './limits/open-read-limits.ts';
import { ReadService } from './reads/read.service.ts';
import { ReadSharing } from './reads/read-sharing.ts';
import { Upstreams } from './upstream/upstreams.ts';

@Module({
  providers: [ProxyService, ForwardService, ReadService, ReadSharing, OpenReadLimits, Upstreams],
  exports: [ProxyService, Upstreams],
})
export class ProxyModule {}
