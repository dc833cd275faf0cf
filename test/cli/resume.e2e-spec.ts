import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { entity, putEntity } from '../../local/catalog/catalog-fixture.ts';
import { startCatalog } from '../../local/catalog/catalog-server.ts';
import { choosePorts } from '../../local/stack/ports.ts';
import { jsonLines, killAllClis, reaches, startCli, type RunningCli } from '../support/cli.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { startHistory } from '../support/history.ts';
import { newTimeline, upTo, type EventWriter } from '../support/numbered-events.ts';
import { forAllTests } from '../support/for-this-test.ts';

let gateway: GatewayChild;
let port: number;

afterAll(async () => {
  await killAllClis();
  await gateway.kill();
});
// In memory: the file-backed store may show new data before it moves its own offset, and a reader
// then gets events twice (@durable-streams/server 0.3.7).
const history = forAllTests(() => startHistory({ longPollTimeoutMs: 1_000 }));
const catalog = forAllTests(() =>
  startCatalog({ port: 0, databasePath: ':memory:', longPollTimeoutMs: 1_000 }),
);
beforeAll(async () => {
  ({ gateway: port } = await choosePorts({ gateway: 0 }));
  gateway = await startGateway();
});
/** The gateway, always on the same port. */
function startGateway(): Promise<GatewayChild> {
  const env = {
    GATEWAY_PORT: String(port),
    GATEWAY_HISTORY_URL: history.url,
    GATEWAY_SYNC_URL: catalog.url,
    GATEWAY_DRAIN_TIMEOUT_MS: '1000',
  };
  return startGatewayChild({ env });
}

const seqs = ({ out }: { out: string }): number[] =>
  jsonLines<{ seq: number }>(out).map(({ seq }) => seq);

const hasAll =
  (writer: EventWriter) =>
  ({ out }: { out: string }): boolean =>
    seqs({ out }).length >= writer.count;

describe('agent-gateway tail', () => {
  it('loses and repeats nothing when the gateway is killed or drained, and is back', async () => {
    const writer = await newTimeline(history.url, 'resume', 20, 1_000);
    const tails = ['sse', 'long-poll'].map((live) =>
      startCli(['tail', 'chat/resume', '--json', '--live', live], { env: reaches(gateway) }),
    );
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
      // In the middle of what is being read.
      const writing = writer.append(50, 2_000);
      await Promise.all(tails.map((tail) => tail.until(({ out }) => seqs({ out }).length >= 20)));
      gateway.signal(signal);
      await writing;
      await gateway.exited;
      await writer.append(10);
      await Promise.all(tails.map(saysThatItIsLost));
      gateway = await startGateway();
      await writer.append(10);
      await Promise.all(tails.map((tail) => tail.until(hasAll(writer))));
    }
    for (const [index, tail] of tails.entries()) {
      tail.signal(index === 0 ? 'SIGINT' : 'SIGTERM');
      const { code, out, err } = await tail.ended;
      expect([code, seqs({ out })]).toEqual([index === 0 ? 130 : 143, upTo(writer.count)]);
      expect(err).toContain('agent-gateway: Connected again.\n');
    }
  });
});

describe('agent-gateway watch', () => {
  it('tells each change once when the gateway is killed and when the engine starts over', async () => {
    await putEntity(catalog, entity('w1', { tenant: 'default' }));
    await putEntity(catalog, entity('w2', { tenant: 'default' }));
    const watch = startCli(['watch', '--json'], { env: reaches(gateway) });
    const changes = (count: number): Promise<void> =>
      watch.until(({ out }) => out.split('\n').length > count);
    await changes(2);
    gateway.signal('SIGKILL');
    await gateway.exited;
    await putEntity(catalog, entity('w1', { tenant: 'default', status: 'running' }));
    await saysThatItIsLost(watch);
    gateway = await startGateway();
    await changes(3);
    // All handles are stale: everything is fetched again, and only what differs is told.
    catalog.rotate();
    await putEntity(catalog, entity('w3', { tenant: 'default' }));
    await changes(4);
    watch.signal('SIGINT');
    const { code, out } = await watch.ended;
    const told = jsonLines<{ operation: string; row: { id: string }; before: object }>(out);
    expect(code).toBe(130);
    expect(told.map(({ operation, row, before }) => [operation, row.id, before])).toEqual([
      ['insert', 'w1', {}],
      ['insert', 'w2', {}],
      ['update', 'w1', { status: 'idle' }],
      ['insert', 'w3', {}],
    ]);
  });
});

/** The message that the command line prints once for each outage. */
async function saysThatItIsLost(cli: RunningCli): Promise<void> {
  const times = cli.err.split('Connected again.').length;
  await cli.until(({ err }) => err.split('Trying again.').length > times);
}
