import { describe, expect, it } from '@jest/globals';
import { loggedShape } from './logged-shape.ts';

const TABLES = ['entities', 'public."Runs"'];
/** `printf %s "status = 'running'" | sha256sum | cut -c 1-12` */
const DIGEST = 'e43b3c8260a0';

describe('loggedShape', () => {
  it.each(['status+%3D+%27running%27', "status%20=%20'running'"])(
    'has the table, and the digest that sha256sum has of the clause %s',
    (where) => {
      const shape = loggedShape(`?table=entities&where=${where}&offset=-1`, TABLES);
      expect(shape).toEqual({ table: 'entities', where: DIGEST });
    },
  );

  it('has the table alone of a read of the whole', () => {
    const table = 'public."Runs"';
    expect(loggedShape('?offset=0_0&table=public.%22Runs%22', TABLES)).toEqual({ table });
  });

  // A query may hold anything, and the log holds no query.
  it('has a digest of a table that is not in the settings', () => {
    const query = "?table=status%20=%20'running'";
    expect(loggedShape(query, TABLES)).toEqual({ table: DIGEST });
    expect(loggedShape(query, '*')).toEqual({ table: DIGEST });
    expect(loggedShape('?table=', '*')).toEqual({ table: 'e3b0c44298fc' });
  });

  it('has nothing of a query without a table', () => {
    expect(loggedShape('', TABLES)).toEqual({});
    expect(loggedShape('?where=x', TABLES)).toEqual({});
  });
});
