import { Module } from '@nestjs/common';
import { UpstreamModule } from './upstream/upstream.module.ts';
import { ForwardService } from './forward/forward.service.ts';
import { ProxyService } from './proxy.service.ts';
import { ReadService } from './reads/read.service.ts';
import { ReadSharing } from './reads/read-sharing.ts';

@Module({
  imports: [UpstreamModule],
  providers: [ProxyService, ForwardService, ReadService, ReadSharing],
  exports: [ProxyService, UpstreamModule],
})
export class ProxyModule {}
