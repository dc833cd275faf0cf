import { Module } from '@nestjs/common';
import { ProxyService } from './proxy.service.ts';
import { OpenReadLimits } from './limits/open-read-limits.ts';
import { ReadService } from './reads/read.service.ts';
import { ReadSharing } from './reads/read-sharing.ts';
import { Upstreams } from './upstream/upstreams.ts';

@Module({
  providers: [ProxyService, ReadService, ReadSharing, OpenReadLimits, Upstreams],
  exports: [ProxyService, Upstreams],
})
export class ProxyModule {}
