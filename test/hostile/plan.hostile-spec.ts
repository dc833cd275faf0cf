import { describe, expect, it } from '@jest/globals';
import { planRound, planRounds } from './plan-rounds.ts';
import { EXACT, REFUSED, BROKEN, ENDLESS, RESET_BEHIND } from './plan.ts';

describe('the plan of hostile rounds', () => {
  it('is the same for the same seed', () => {
    expect(planRounds('1', 5)).toEqual(planRounds('1', 5));
  });

  it('is another one for another seed', () => {
    expect(planRounds('1', 1)).not.toEqual(planRounds('2', 1));
  });

  it('has the same round whether others are planned or not', () => {
    expect(planRound('1', 3)).toEqual(planRounds('1', 5)[3]);
  });

  it('is plain data', () => {
    const rounds = planRounds('1', 2);
    expect(JSON.parse(JSON.stringify(rounds))).toEqual(rounds);
  });

  it('has every behaviour, manner, credential and body within a few rounds', () => {
    const clients = planRounds('1', 20).flatMap((round) => round.clients);
    const requests = clients.flatMap((client) => client.requests);
    const kinds = (values: string[]): string[] => [...new Set(values)].sort();
    expect(kinds(requests.map(({ answer }) => answer.behaviour))).toEqual(
      [...EXACT, ...REFUSED, ...BROKEN, ...RESET_BEHIND, ...ENDLESS].sort(),
    );
    expect(kinds(clients.map(({ manner }) => manner.kind)).length).toBe(7);
    expect(kinds(requests.map(({ credential }) => credential)).length).toBe(6);
    expect(kinds(requests.map(({ body }) => body)).length).toBe(11);
    expect(kinds(requests.map(({ route }) => route)).length).toBe(7);
  });
});
