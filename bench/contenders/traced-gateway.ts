import { setTimeout as sleep } from 'node:timers/promises';
import type { TraceSink } from '../upstreams/trace-sink.ts';
import { AUTHORIZED, type Contender } from './contender.ts';
import { gateway } from './gateway.ts';

const EXPORT_DELAY_MS = 1_000;
const EXPORT_TIMEOUT_MS = 10_000;
const POLL_MS = 100;

/** The gateway with tracing: it exports a span for each request and for each upstream request. */
export function tracedGateway(sink: TraceSink): Contender {
  const contender = gateway({
    id: 'gateway-traced',
    label: 'agent gateway, traces on',
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
      OTEL_BSP_SCHEDULE_DELAY: String(EXPORT_DELAY_MS),
    },
  });
  return {
    ...contender,
    start: async (streamsUrl) => {
      const running = await contender.start(streamsUrl);
      try {
        await untilTraced(`${running.url}/t/default/first`, sink);
        return running;
      } catch (error) {
        await running.stop();
        throw error;
      }
    },
  };
}

/** Waits until the first span arrives. Without spans the bench would say that tracing costs nothing. */
async function untilTraced(url: string, sink: TraceSink): Promise<void> {
  const response = await fetch(url, { headers: AUTHORIZED });
  await response.arrayBuffer();
  const giveUpAtMs = performance.now() + EXPORT_TIMEOUT_MS;
  while ((await sink.bytes()) === 0) {
    if (performance.now() > giveUpAtMs) throw new Error('it sends no spans');
    await sleep(POLL_MS);
  }
}
