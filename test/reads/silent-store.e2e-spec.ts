import { describe, expect, it } from '@jest/globals';
import { HeldBytes } from '../../src/platform/memory/held-bytes.ts';
import type { HeldRequests } from './held-upstream.ts';
import type { Reader } from './reader.ts';
import { CATCH_UPS, problemOf, sharingGateway, type SharingGateway } from './sharing-gateway.ts';

const RESPONSE_TIMEOUT_MS = 2_000;
/** One request at most goes out beside others in this time. */
const MAX_WAIT_MS = 50;
const ROUNDS = 10;
const READERS_PER_ROUND = 20;

describe.each(CATCH_UPS)('a crowd of equal reads ($kind) before a store that hangs', (read) => {
  const sharing = sharingGateway(true, {
    GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: String(RESPONSE_TIMEOUT_MS),
  });
  const patient = sharingGateway(true);

  const heldBytes = ({ gateway }: SharingGateway): number =>
    gateway.running.app.get(HeldBytes, { strict: false }).total;

  /** Readers who come one round after the other, and how many requests the store had before each came. */
  async function gather(
    gateway: SharingGateway,
    target: string,
    requests: HeldRequests,
  ): Promise<{ readers: Reader[]; before: number[] }> {
    const readers: Reader[] = [];
    const before: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      before.push(...Array.from({ length: READERS_PER_ROUND }, () => requests.all.length));
      readers.push(...(await gateway.park(READERS_PER_ROUND, target)));
    }
    return { readers, before };
  }

  it('opens a connection for few of them, and each gets its 502 in its own time', async () => {
    const { target, requests } = sharing.newRead(read.target);
    const startedAtMs = performance.now();
    const { readers } = await gather(sharing, target, requests);
    const answers = await Promise.all(readers.map(({ ended }) => ended));
    const tookMs = performance.now() - startedAtMs;

    for (const answer of answers) {
      expect(problemOf(answer)).toMatchObject({ status: 502, code: 'upstream_timeout' });
    }
    expect(requests.all.length).toBeLessThanOrEqual(1 + tookMs / MAX_WAIT_MS);
    await Promise.all(requests.all.map(({ over }) => over));
    expect(requests.all.every(({ wasLeft }) => wasLeft)).toBe(true);
    expect(heldBytes(sharing)).toBe(0);
  });

  it('is answered as soon as the store is, and nobody by what was asked for before', async () => {
    const { target, requests } = patient.newRead(read.target);
    const { readers, before } = await gather(patient, target, requests);
    requests.each((request) => {
      const number = requests.all.indexOf(request) + 1;
      request.answer(200, {}, `${number} `.padEnd(50_000, 'x'));
    });
    for (const [index, { ended }] of readers.entries()) {
      const { status, body, isWhole } = await ended;
      expect([status, isWhole]).toEqual([200, true]);
      expect(Number.parseInt(body.toString())).toBeGreaterThan(before[index] ?? 0);
    }
    expect(heldBytes(patient)).toBe(0);
  });
});
