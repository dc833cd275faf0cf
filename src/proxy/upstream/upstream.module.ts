import { Module } from '@nestjs/common';
import { UpstreamCalls } from './upstream-calls.ts';
import { Upstreams } from './upstreams.ts';

/** Provides the upstreams to everything that sends requests to them. */
@Module({
  providers: [UpstreamCalls, Upstreams],
  exports: [Upstreams, UpstreamCalls],
})
export class UpstreamModule {}
