import { planClient } from './plan-client.ts';
import type { Behaviour, RoundPlan } from './plan.ts';
import { checkedId } from './request-id.ts';
import { oneIn, randomFor, whole } from './seed.ts';

const CLIENTS_PER_ROUND = 40;
const SHARED_PER_ROUND = 3;
const SHARED_BEHAVIOURS: readonly [Behaviour, ...Behaviour[]] = [
  'length',
  'chunked',
  'until-close',
  'drip',
  'events',
  'double',
  'surplus',
  'large',
  'cut-body',
  'cut-chunk',
  'garbage',
  'silent',
  'closed',
  'endless-events',
];

/** Plans the whole run from a seed. Nothing is random at run time. */
export function planRounds(seed: string, rounds: number): RoundPlan[] {
  return Array.from({ length: rounds }, (_, round) => planRound(seed, round));
}

export function planRound(seed: string, round: number): RoundPlan {
  const shared = Array.from({ length: SHARED_PER_ROUND }, (_, index) => {
    const random = randomFor(seed, round, 'shared', index);
    const behaviour = random.pick(SHARED_BEHAVIOURS);
    const isLive = behaviour.includes('events') || oneIn(random, 3);
    const id = checkedId(`r${round}s${index}`);
    const query = isLive
      ? `?offset=1_1&live=${oneIn(random, 2) ? 'sse' : 'long-poll'}`
      : '?offset=-1';
    return {
      id,
      target: `/streams/t/${id}${query}`,
      answer: { behaviour, bytes: whole(random, 1, 100_000) },
    };
  });
  const clients = Array.from({ length: CLIENTS_PER_ROUND }, (_, index) =>
    planClient(randomFor(seed, round, index), `r${round}c${index}`, shared),
  );
  const answers: RoundPlan['answers'] = {};
  for (const { answerId, answer } of clients.flatMap(({ requests }) => requests)) {
    answers[answerId] = answer;
  }
  return { round, clients, answers };
}
