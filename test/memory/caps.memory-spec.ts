import { afterEach, describe, expect, it } from '@jest/globals';
import { openFileLimit } from '../../src/contract/open-files.ts';
import { AUTHORIZED } from '../support/credentials.ts';
import { MIB, startLimitedGateway, type LimitedGateway } from './limited-gateway.ts';
import { Readers } from '../support/readers.ts';
import { until } from '../support/until.ts';

const ROUNDS = 10;
const EVENT_BYTES = 300;
/** All readers of these tests use one credential. By default it may have only half of all reads. */
const ONE_CREDENTIAL = { GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL: '100000' };
/** The most connections of a process. It needs some files for other purposes. */
const MAX_CONNECTIONS = openFileLimit() - 500;

const SCENES = [300, 512, 1_024].flatMap((limitMib) =>
  (['long-poll', 'sse'] as const).flatMap((live) =>
    [true, false].map((isShared) => ({
      limitMib,
      live,
      kind: `${isShared ? 'shared' : 'unshared'} ${live === 'sse' ? 'event streams' : 'long-polls'}`,
      isShared,
    })),
  ),
);

/** 40,000 reads were the default whatever memory there was: the kernel ended the process at 8,160 in 300 MiB. */
describe('the cap of open reads that follows from the memory', () => {
  let limited: LimitedGateway;
  let readers: Readers | undefined;
  afterEach(async () => {
    readers?.stop();
    await limited.stop();
  });

  it.each(SCENES)(
    'is met before the limit of $limitMib MiB, with $kind',
    async ({ limitMib, live, isShared }) => {
      limited = await startLimitedGateway(limitMib * MIB, 'events-store-main.ts', {
        ...ONE_CREDENTIAL,
        GATEWAY_SHARED_READS: String(isShared),
      });
      const { gateway, store, group, witness } = limited;
      await witness.served(3);
      // Its reads would take the place of others', now and then.
      await witness.stop();
      const cap = await limited.metric('gateway_open_reads_limit');
      const wanted = Math.min(
        Math.ceil(cap * 1.1),
        // Those that are not shared have a connection to the store each.
        Math.floor(isShared ? MAX_CONNECTIONS : MAX_CONNECTIONS / 2),
      );
      const admitted = Math.min(cap, wanted);
      const all = new Readers({
        port: gateway.port,
        credential: AUTHORIZED.authorization,
        live,
        target: (index) => `/streams/t/${isShared ? 's' : index}?offset=1_0&live=${live}`,
      });
      readers = all;
      await all.add(wanted);
      await all.until(() => all.count('refused') === wanted - admitted);
      await untilOpen(limited, admitted);

      for (let round = 1; round <= ROUNDS; round++) {
        // All have asked again.
        await store.untilWaiting(isShared ? 1 : admitted);
        await untilOpen(limited, admitted);
        store.answer(EVENT_BYTES);
        await all.until(() => all.events >= admitted * round);
      }
      expect([...all.statuses.keys()]).toEqual(wanted > admitted ? [503] : []);
      expect(all.count('gone')).toBe(0);
      expect(group.kills()).toBe(0);
      expect(limited.highestBytes).toBeLessThan(limitMib * MIB);
      expect(new Set(witness.outcomes)).toEqual(new Set([200]));
    },
  );
});

function untilOpen(limited: LimitedGateway, reads: number): Promise<void> {
  return until(
    `${reads} reads are open`,
    async () => (await limited.metric('gateway_open_reads')) >= reads,
  );
}
