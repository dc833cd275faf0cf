import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { startHeldUpstream, type HeldUpstream } from './held-upstream.ts';
import { Reader, type Answer } from './reader.ts';
import { EVENT_READS, LIVE_READS, MODES, numberedEvent, passWitness } from './sharing-gateway.ts';

/** Each read that is not shared needs an upstream connection of its own, so there are fewer of them. */
const READERS = { shared: 3_000, unshared: 300 };
const DRAIN_MS = 6_000;
/** The delay that a busy machine may add. Without its deadline a gateway would wait for its upstream for ever. */
const LATE_MS = 30_000;

describe.each(MODES)('a drain under a great many $mode reads', ({ mode, isShared }) => {
  const count = READERS[mode];
  let upstream: HeldUpstream;
  let gateway: GatewayChild;
  beforeEach(async () => {
    upstream = await startHeldUpstream();
    gateway = await startGatewayChild({
      env: {
        GATEWAY_HISTORY_URL: upstream.url,
        GATEWAY_SYNC_URL: upstream.url,
        GATEWAY_SHARED_READS: String(isShared),
        // All have one credential, which has half of what the machine's files allow otherwise.
        GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL: String(count),
        GATEWAY_DRAIN_TIMEOUT_MS: String(DRAIN_MS),
      },
    });
  });
  afterEach(async () => {
    await gateway.kill();
    await upstream.stop();
  });

  /** Begins reads of a few different targets, and resolves once all are with the gateway. */
  async function begin(count: number, targetOf: (index: number) => string): Promise<Reader[]> {
    const readers = Array.from({ length: count }, (_, index) => {
      const headers = { 'x-request-id': `r${index}` };
      return new Reader(gateway.url + targetOf(index), { headers });
    });
    await Promise.all(readers.map((reader) => reader.sent()));
    await passWitness(gateway.url);
    return readers;
  }

  it('answers each parked one 503, with its own id, and lets the upstream go', async () => {
    const names = ['drain-a', 'drain-b', 'drain-c'];
    const targets = LIVE_READS.flatMap(({ target }) => names.map(target));
    const readers = await begin(count, (index) => targets[index % targets.length] ?? '');
    gateway.signal('SIGTERM');
    const signalledAtMs = performance.now();

    const answers = await Promise.all(readers.map((reader) => reader.ended));
    expect(summary(answers)).toEqual({ '503 draining of its own id': count });
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(performance.now() - signalledAtMs).toBeLessThan(DRAIN_MS + LATE_MS);

    const requests = upstream.at('drain-').all;
    expect(requests.length).toBe(isShared ? targets.length : count);
    await Promise.all(requests.map(({ over }) => over));
    expect(requests.every(({ wasLeft }) => wasLeft)).toBe(true);
  });

  it('ends event streams between events, each whole', async () => {
    const target = EVENT_READS[0]?.target('drain-events') ?? '';
    upstream.at('drain-events').each((request) => {
      request.begin(200, { 'content-type': 'text/event-stream' }, numberedEvent(1));
    });
    const readers = await begin(count, () => target);
    await Promise.all(readers.map((reader) => reader.untilText(numberedEvent(1))));
    gateway.signal('SIGTERM');
    const answers = await Promise.all(readers.map((reader) => reader.ended));
    const whole = answers.filter(
      ({ body, isWhole }) => isWhole && body.toString() === numberedEvent(1),
    );
    expect(whole.length).toBe(count);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });
});

function summary(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, headers, body, isWhole } of answers) {
    const problem = isWhole ? (JSON.parse(body.toString()) as Record<string, unknown>) : {};
    const isOwn = problem.requestId === headers['x-request-id'];
    const key = `${status} ${String(problem.code)} of ${isOwn ? 'its own' : 'another'} id`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
