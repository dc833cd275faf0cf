import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { forAllTests, forThisTest } from '../support/for-this-test.ts';
import { startFlakyLink, type FlakyLink } from '../support/flaky-link.ts';
import { AUTHORIZED } from '../support/gateway.ts';
import { startMeasuredGateway, type MeasuredGateway } from '../support/measured-gateway.ts';
import { ACCEPTED, KEYED, sendCommand } from '../support/runtime.ts';
import { startRawUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';
import { awaited, until } from '../support/until.ts';

const READS = 40;
/** A quarter of it is the time after which a read asks once more. */
const RESPONSE_TIMEOUT_MS = '6000';

/**
 * Kept connections went silent: a NAT forgot them, or a node vanished. 40 of 40 reads were 502 after 15 s, for a minute.
 */
describe('kept connections that died without a word', () => {
  /** Answers that wait for each other, so that each request has a connection of its own. */
  let waiting: ServerResponse[] = [];
  let together = 1;
  const upstream = forAllTests(() =>
    startScriptedUpstream((request, response) => {
      waiting.push(response);
      if (waiting.length < together) return;
      const isCommand = request.url?.includes('/wake') === true;
      for (const each of waiting.splice(0)) each.writeHead(isCommand ? 202 : 200).end(ACCEPTED);
    }),
  );
  let link: FlakyLink;
  let gateway: MeasuredGateway;

  beforeEach(async () => {
    waiting = [];
    upstream.seen.length = 0;
    link = forThisTest(await startFlakyLink(upstream.port));
    gateway = forThisTest(
      await startMeasuredGateway({
        GATEWAY_HISTORY_URL: link.url,
        GATEWAY_RUNTIME_INGRESS_URL: link.url,
        GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: RESPONSE_TIMEOUT_MS,
      }),
    );
  });

  const read = async (number: number): Promise<number> => {
    const response = await fetch(`${gateway.url}/streams/${number}`, { headers: AUTHORIZED });
    await response.arrayBuffer();
    return response.status;
  };
  const readAll = (): Promise<number[]> =>
    Promise.all(Array.from({ length: READS }, (_, number) => read(number)));
  const allWell = Array.from({ length: READS }, () => 200);

  /** So many connections that lie idle. */
  async function keepConnections(): Promise<void> {
    together = READS;
    expect(await readAll()).toEqual(allWell);
    together = 1;
    expect(link.open).toBe(READS);
    upstream.seen.length = 0;
  }

  it('cost no read its answer: one asks once more, and its answer frees the others', async () => {
    await keepConnections();
    link.vanish();
    expect(await awaited('all reads are answered', readAll())).toEqual(allWell);
    // One probe, and each of the others once more. On a busy machine, a probe that waits lets another one go.
    expect(new Set(upstream.seen.map(({ target }) => target)).size).toBe(READS);
    expect(upstream.seen.length).toBeLessThan(READS + 5);
    const stale = { upstream: 'history', http_request_method: 'GET', kind: 'stale' };
    expect(await gateway.value('gateway_upstream_failures_total', stale)).toBeGreaterThanOrEqual(
      READS,
    );
    const timedOut = { ...stale, kind: 'timeout' };
    expect((await gateway.value('gateway_upstream_failures_total', timedOut)) ?? 0).toBe(0);
  });

  it('are all closed when one of them was found dead', async () => {
    await keepConnections();
    link.vanish();
    expect(await read(1)).toBe(200);
    // The others would have cost their reads a quarter of their time each.
    for (let number = 0; number < READS; number++) expect(await read(number)).toBe(200);
    const stale = { upstream: 'history', http_request_method: 'GET', kind: 'stale' };
    expect(await gateway.value('gateway_upstream_failures_total', stale)).toBe(1);
  });

  it('cost a command with a key nothing but time', async () => {
    expect((await sendCommand(gateway.url, KEYED)).status).toBe(202);
    link.vanish();
    expect(await sendCommand(gateway.url, KEYED, 'next')).toMatchObject({ status: 202 });
    expect(upstream.seen.map(({ target }) => target.includes('next'))).toEqual([false, true]);
  });

  it('are not taken for dead where the upstream is only slow, and it gets one request more', async () => {
    await keepConnections();
    together = READS + 1;
    const reads = readAll();
    await until('one asks once more', () => upstream.seen.length > READS);
    expect(await reads).toEqual(allWell);
    expect(upstream.seen).toHaveLength(READS + 1);
    expect(link.open).toBeGreaterThanOrEqual(READS);
  });
});

// A tenth of the connections hung: a tenth of the reads was 502, the one hot URL among them.
describe('an upstream of which each tenth connection hangs', () => {
  it('costs hardly a read its answer', async () => {
    let connections = 0;
    const upstream = forThisTest(
      await startRawUpstream((socket) => {
        if (++connections % 10 === 0) socket.resume();
        else socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
      }),
    );
    const gateway = forThisTest(
      await startMeasuredGateway({
        GATEWAY_HISTORY_URL: upstream.url,
        GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: RESPONSE_TIMEOUT_MS,
      }),
    );
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async (_, number) => {
        const response = await fetch(`${gateway.url}/streams/${number}`, { headers: AUTHORIZED });
        await response.arrayBuffer();
        return response.status;
      }),
    );
    // Twenty hang at first, and of their probes two or three.
    expect(statuses.filter((status) => status !== 200).length).toBeLessThanOrEqual(4);
    expect(connections).toBeGreaterThan(210);
  });
});
