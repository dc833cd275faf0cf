import { Module } from '@nestjs/common';
import { Upstreams } from './upstreams.ts';

/** Provides the upstreams to everything that sends requests to them. */
@Module({
  providers: [Upstreams],
  exports: [Upstreams],
})
export class UpstreamModule {}
