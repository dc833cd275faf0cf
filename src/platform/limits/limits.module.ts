import { Global, Module } from '@nestjs/common';
import { CONFIG, type GatewayConfig } from '../config/gateway-config.ts';
import { HeldBytes } from '../memory/held-bytes.ts';
import { OpenCommandLimit } from './open-command-limit.ts';
import { OpenReadLimits } from './open-read-limits.ts';

/** Limits on connections, reads, bodies and rates. */
@Global()
@Module({
  providers: [
    {
      provide: OpenReadLimits,
      inject: [CONFIG, HeldBytes],
      useFactory: ({ limits }: GatewayConfig, held: HeldBytes) =>
        new OpenReadLimits(
          { total: limits.maxOpenReads, perCredential: limits.maxOpenReadsPerCredential },
          held,
        ),
    },
    {
      provide: OpenCommandLimit,
      inject: [CONFIG],
      useFactory: ({ limits }: GatewayConfig) => new OpenCommandLimit(limits.maxOpenCommands),
    },
  ],
  exports: [OpenReadLimits, OpenCommandLimit],
})
export class LimitsModule {}
