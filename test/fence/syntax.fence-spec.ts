import { beforeAll, describe, expect, it } from '@jest/globals';
import { Random } from '../soak/random.ts';
import { shareOf } from '../support/share.ts';
import { electricWhere, paramsOf } from './electric.ts';
import { fenceProblem, orderProblem, rewrittenProblem } from './fence-holds.ts';
import { letThrough, queryOf } from './let-through.ts';
import { mutated } from './mutation.ts';
import { PARAMS, randomCondition } from './random-clause.ts';
import { randomOrder } from './random-order.ts';
import { loadParsers, PARSERS, selectOf } from './syntax.ts';

const ROUNDS = shareOf(2_000);

beforeAll(loadParsers);

/** The problem with a clause for any of the parsers behind the gateway. */
function problemOf(query: string, where: string): string | undefined {
  const fenced = paramsOf(query).get('where') ?? '';
  for (const parser of PARSERS) {
    const problem = fenceProblem(fenced, where, parser);
    if (problem) return `version ${parser.version}: ${problem}: ${fenced}`;
  }
  let anew: string;
  try {
    anew = electricWhere(fenced, new Map());
  } catch {
    return undefined;
  }
  return PARSERS.map((parser) => rewrittenProblem(anew, parser)).find(Boolean);
}

/** Checks that every clause that passes is safe, and that at least `leastPassed` of them pass. */
function expectHeld(clauses: Iterable<string>, leastPassed: number): void {
  let passed = 0;
  for (const where of clauses) {
    const query = letThrough(queryOf({ where, params: Object.values(PARAMS) }));
    if (query === undefined) continue;
    passed++;
    expect([where, problemOf(query, where)]).toEqual([where, undefined]);
  }
  // Of clauses that are all refused it would say nothing.
  expect(passed).toBeGreaterThan(leastPassed);
}

describe('to the parser of PostgreSQL a clause that passes', () => {
  it('is what the fence holds, be it of the grammar', () => {
    const random = Random.for(process.env.FENCE_SEED, 'clauses');
    expectHeld(
      Array.from({ length: ROUNDS }, () => randomCondition(random)),
      ROUNDS / 5,
    );
  });

  it('is what the fence holds, be it mutated', () => {
    const random = Random.for(process.env.FENCE_SEED, 'mutated clauses');
    expectHeld(
      Array.from({ length: ROUNDS * 3 }, () => mutated(random, randomCondition(random, 3))),
      ROUNDS / 10,
    );
  });

  it('is what the fence holds, be it a subset', () => {
    const random = Random.for(process.env.FENCE_SEED, 'subsets');
    let passed = 0;
    for (let i = 0; i < ROUNDS; i++) {
      const subset = mutated(random, randomCondition(random, 3));
      const subset__params = JSON.stringify(PARAMS);
      const query = letThrough(queryOf({ subset__where: subset, subset__params }));
      if (query === undefined) continue;
      passed++;
      const params = paramsOf(query);
      // As it would stand in Electric's SQL: behind the fence.
      const fenced = `(${params.get('where')}) AND (${params.get('subset__where')})`;
      for (const parser of PARSERS) {
        expect([subset, fenceProblem(fenced, subset, parser)]).toEqual([subset, undefined]);
      }
    }
    expect(passed).toBeGreaterThan(ROUNDS / 20);
  });

  it('is the fence alone where nothing is asked', () => {
    const fenced = paramsOf(letThrough(queryOf({})) ?? '').get('where') ?? '';
    for (const parser of PARSERS) expect(fenceProblem(fenced, undefined, parser)).toBeUndefined();
  });
});

describe('to the parser of PostgreSQL an order that passes', () => {
  it('is one of plain columns', () => {
    const random = Random.for(process.env.FENCE_SEED, 'orders');
    let passed = 0;
    for (let i = 0; i < ROUNDS * 2; i++) {
      const subset__order_by = randomOrder(random);
      const query = letThrough(queryOf({ subset__order_by }));
      if (query === undefined) continue;
      passed++;
      const sent = paramsOf(query).get('subset__order_by') ?? '';
      for (const parser of PARSERS) {
        expect([sent, orderProblem(sent, parser)]).toEqual([sent, undefined]);
        // And it is the order that was asked for.
        const asked = selectOf(`SELECT 1 ORDER BY ${subset__order_by}`, parser);
        expect([sent, selectOf(`SELECT 1 ORDER BY ${sent}`, parser)]).toEqual([sent, asked]);
      }
    }
    expect(passed).toBeGreaterThan(ROUNDS / 5);
  });
});
