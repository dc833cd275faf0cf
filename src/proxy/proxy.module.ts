import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { CONFIG, type GatewayConfig } from '../contract/gateway-config.ts';
import { LOGGER } from '../platform/log/create-logger.ts';
import { HeldBytes } from '../platform/memory/held-bytes.ts';
import { Telemetry } from '../platform/telemetry/telemetry.ts';
import { ForwardService } from './forward/forward.service.ts';
import { ProxyService } from './proxy.service.ts';
import { OpenReadLimits } from './limits/open-read-limits.ts';
import { ReadService } from './reads/read.service.ts';
import { ReadShareMetrics } from './reads/read-share-metrics.ts';
import { ReadSharing } from './reads/read-sharing.ts';
import { UpstreamModule } from './upstream/upstream.module.ts';

@Module({
  imports: [UpstreamModule],
  providers: [
    ProxyService,
    ForwardService,
    ReadService,
    ReadSharing,
    ReadShareMetrics,
    {
      provide: OpenReadLimits,
      inject: [CONFIG, HeldBytes, LOGGER, Telemetry],
      useFactory: (
        { limits }: GatewayConfig,
        held: HeldBytes,
        logger: Logger,
        telemetry: Telemetry,
      ) =>
        telemetry.show(
          new OpenReadLimits(
            {
              total: limits.maxOpenReads,
              perCredential: limits.maxOpenReadsPerCredential,
              perSubject: limits.maxOpenReadsPerSubject,
            },
            held,
            ({ id }, openReads) =>
              logger.warn(
                { subSha256: id, openReads, setting: 'GATEWAY_MAX_OPEN_READS_PER_SUBJECT' },
                'a subject of read tokens has as many reads open as one may have',
              ),
          ),
        ),
    },
  ],
  exports: [ProxyService, UpstreamModule],
})
export class ProxyModule {}
