import { gateway } from '../contenders/gateway.ts';
import { gatewayCopies } from '../contenders/gateway-copies.ts';
import { nginx } from '../contenders/nginx.ts';
import { withStarted } from '../started.ts';
import { startNginxUpstream } from '../upstreams/nginx-upstream.ts';
import type { BenchContext } from './context.ts';
import { DISTINCT_URLS, instantRead } from './plain.ts';
import { measureReads, type ReadsTable } from './reads.ts';

/** Two copies of the gateway on one port beside nginx with two workers: what a second core brings. */
export function measureCopies(context: BenchContext): Promise<ReadsTable> {
  return withStarted(async (started) => {
    const upstream = started.add(await startNginxUpstream());
    return measureReads(context, {
      streamsUrl: upstream.streamsUrl,
      contenders: [
        gateway({ nodeArgs: context.gatewayNodeArgs('copies') }),
        gatewayCopies,
        nginx({ workers: 2 }),
      ],
      expected: instantRead(upstream),
      distinctUrls: DISTINCT_URLS,
    });
  });
}
