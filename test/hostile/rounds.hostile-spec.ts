import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { shareOf } from '../support/share.ts';
import { judgeClient } from './judge.ts';
import { planRound } from './plan-rounds.ts';
import { startHostileWorld, type HostileWorld } from './hostile-world.ts';
import { SEED } from './seed.ts';

const ROUNDS = shareOf(12);
/** The single round to run, to repeat a failure. */
const ONLY = process.env.HOSTILE_ROUND;
const rounds =
  ONLY === undefined ? Array.from({ length: ROUNDS }, (_, round) => round) : [Number(ONLY)];

describe(`random clients before random upstreams (HOSTILE_SEED=${SEED})`, () => {
  let world: HostileWorld;

  beforeAll(async () => {
    world = await startHostileWorld();
  });
  afterAll(() => world?.stop());

  it.each(rounds)(
    'round %d: every answer is right and for who asked, and all is given back',
    async (round) => {
      const plan = planRound(SEED, round);
      const outcomes = await world.play(plan);
      const faults = plan.clients.flatMap((client, index) => {
        const outcome = outcomes[index];
        return outcome ? judgeClient(client, outcome) : [`${client.id} has no end`];
      });
      expect([...faults, ...(await world.faultsBehind())]).toEqual([]);
    },
    90_000,
  );

  it('leaves the gateway as it was', async () => {
    expect(await world.faultsAtEnd()).toEqual([]);
  });
});
