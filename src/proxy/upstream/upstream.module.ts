import { Module } from '@nestjs/common';
import { UpstreamCredentials } from './upstream-credentials.ts';
import { Upstreams } from './upstreams.ts';

/** Provides the upstreams to everything that sends requests to them. */
@Module({
  providers: [UpstreamCredentials, Upstreams],
  exports: [Upstreams, UpstreamCredentials],
})
export class UpstreamModule {}
