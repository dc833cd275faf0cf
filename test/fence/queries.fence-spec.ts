import { describe, expect, it } from '@jest/globals';
import { Random } from '../soak/random.ts';
import { shareOf } from '../support/share.ts';
import { paramsOf } from './electric.ts';
import { letThrough } from './let-through.ts';
import { mutated } from './mutation.ts';
import { TENANT } from './world.ts';

const ROUNDS = shareOf(15_000);
const NAMES =
  'table where columns params[1] params[2] params[3] params offset handle live live_sse cursor log replica ' +
  'expired_handle cache-buster subset__where subset__params subset__order_by subset__limit subset__offset ' +
  'experimental_live_sse secret api_secret queryable_columns subset__where_expr subset where[] table[] subset[where]';
const VALUES: Record<string, string> = {
  table: 'entities entities entities entities entities payroll public.entities "entities"',
  live: 'true false',
  subset__limit: '1 20 1e3 -1',
  subset__offset: '0 1 x',
  subset__order_by: 'id "id" pay id,pay lower(id)',
  subset__params: '{} {"1":"x"} {"1":"x","1":"y"} [1]',
  columns: 'id id,type "id" id,,',
};
const ANY_VALUE = `x -1 0_0 id='x' tenant=$1 ' % %41 + ; & = é x;table=payroll x&table=payroll true)or(true`;

/** A query that is almost valid, in many spellings. */
function randomQuery(random: Random): string {
  const pairs = Array.from({ length: 1 + random.whole(0, 5) }, () => randomPair(random));
  const table = `${spelled(random, 'table')}=entities`;
  const query = [table, ...pairs].join(random.pick(['&', '&', '&', '&', ';', '&&']));
  return `?${random.oneIn(4) ? printable(mutated(random, query)) : query}`;
}

function randomPair(random: Random): string {
  const name = random.word(NAMES);
  const value = random.word((random.oneIn(4) ? undefined : VALUES[name]) ?? ANY_VALUE);
  return `${spelled(random, name)}=${random.oneIn(8) ? printable(value) : encodeURIComponent(value)}`;
}

/** Percent-encodes some characters of the text. */
function spelled(random: Random, name: string): string {
  return name.replace(/./g, (char) =>
    random.oneIn(30) ? `%${char.charCodeAt(0).toString(16).padStart(2, '0')}` : char,
  );
}

/** The text as Node allows it in a target: also bytes above ASCII, but no white space or control characters. */
function printable(text: string): string {
  return Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/[^\x21-\x7e\x80-\xff]/g, '');
}

const LISTED =
  /^(?:table|where|columns|params\[[1-9]\d*\]|offset|handle|live|live_sse|experimental_live_sse|cursor|log|replica|expired_handle|cache-buster|subset__(?:where|params|order_by|limit|offset))$/;

/** The gateway sends these in its own words. */
const PRINTED = new Set(['where', 'subset__where', 'subset__order_by']);

describe('a query that passes', () => {
  it('says one thing, however it is read', () => {
    const random = Random.for(process.env.FENCE_SEED, 'queries');
    let passed = 0;
    for (let i = 0; i < ROUNDS; i++) {
      const query = randomQuery(random);
      const sent = letThrough(query);
      if (sent === undefined) continue;
      passed++;
      const params = paramsOf(sent);
      expect([query, [...params.keys()].filter((name) => !LISTED.test(name))]).toEqual([query, []]);
      expect([query, params.get('table')]).toEqual([query, 'entities']);
      const isJoined = params.get('where')?.startsWith(`("tenant" = '${TENANT}') AND (`);
      expect([query, isJoined]).toEqual([query, paramsOf(query).has('where')]);
      // A name given twice, a ";" for an "&" or a "[" would tell servers apart.
      expect([query, sent.split('&').length]).toEqual([query, params.size]);
      expect([query, paramsOf(sent, /[&;]/)]).toEqual([query, params]);
      expect([query, /[^\x21-\x7e]/.exec(sent)]).toEqual([query, null]);
      for (const [name, value] of paramsOf(query)) {
        const kept = name === '' || /^(?:api_)?secret$/.test(name) ? undefined : value;
        if (PRINTED.has(name)) continue;
        expect([query, params.get(name)]).toEqual([query, kept]);
      }
    }
    expect(passed).toBeGreaterThan(ROUNDS / 30);
  });
});
