import type { Random } from '../soak/random.ts';
import type { Manner, RequestPlan } from './plan.ts';
import { oneIn, whole } from './seed.ts';

/** Plans what a client does besides sending requests. */
export function planManner(random: Random, requests: readonly RequestPlan[]): Manner {
  const body = requests.at(-1)?.body;
  // The gateway waits for the rest of these, for a minute and more.
  if (body === 'too-long' || body === 'cut-chunk') return { kind: 'half-close' };
  switch (whole(random, 0, 14)) {
    case 0:
    case 1:
      return {
        kind: 'slow',
        readsBytes: whole(random, 1, 20_000),
        writesBytes: whole(random, 1, 2_000),
        pauseMs: whole(random, 1, 20),
        pauses: whole(random, 1, 30),
      };
    case 2:
      return { kind: 'stopping', afterBytes: whole(random, 0, 100_000) };
    case 3:
      return { kind: 'abort-request', share: random.next(), byReset: oneIn(random, 2) };
    case 4:
    case 5:
      return {
        kind: 'abort-answer',
        afterBytes: whole(random, 1, 100_000),
        byReset: oneIn(random, 2),
      };
    case 6:
      return { kind: 'half-close' };
    case 7:
      return { kind: 'mutated', mutations: whole(random, 1, 5) };
    default:
      return { kind: 'plain' };
  }
}
