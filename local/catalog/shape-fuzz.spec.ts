import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  byUrl,
  deleteEntity,
  endAll,
  endLater,
  entity,
  follow,
  putEntity,
  readShape,
  start,
} from './catalog-fixture.ts';
import type { Followed } from './catalog-fixture.ts';
import type { Catalog } from './catalog-server.ts';
import type { Row } from './tables.ts';

afterEach(endAll);
// The client warns of each 409 to a parked read, which names no handle, as Electric's does not.
beforeEach(() => void jest.spyOn(console, 'warn').mockReturnValue());
afterEach(() => void jest.restoreAllMocks());

const WHERE_CLAUSES: readonly (readonly [clause: string, ...params: string[]])[] = [
  ['NULL IS NULL'],
  ["status = 'idle'"],
  ["NOT (status = 'idle' OR parent = '/p')"],
  ["parent IS NULL AND tenant <> 'other'"],
  ['"tenant" = $1 AND status IN ($2, \'busy\')', "o'hara", 'idle'],
  ["parent NOT IN ('/p') OR status = 'busy'"],
  ["status < 'done' AND updated_at < $1", '2026-01-01 00:00:02+00'],
];

type Write =
  | { readonly kind: 'put'; readonly id: string; readonly values: Row }
  | { readonly kind: 'delete'; readonly id: string }
  | { readonly kind: 'rotate' };

const id = fc.constantFrom('a', 'b', 'c', 'd/e');
const writes: fc.Arbitrary<Write[]> = fc.array(
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        kind: fc.constant('put' as const),
        id,
        values: fc.record({
          status: fc.constantFrom('idle', 'busy', 'done'),
          parent: fc.constantFrom('/p', '/q', null),
          tenant: fc.constantFrom("o'hara", 'other'),
          updated_at: fc.constantFrom('2026-01-01 00:00:01+00', '2026-01-01 00:00:03.5+00'),
        }),
      }),
    },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('delete' as const), id }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'rotate' as const }) },
  ),
  { minLength: 10, maxLength: 40 },
);

async function apply(catalog: Catalog, write: Write): Promise<void> {
  if (write.kind === 'rotate') catalog.rotate();
  else if (write.kind === 'delete') await deleteEntity(catalog, `/t/acme/a/echo/${write.id}`);
  else await putEntity(catalog, entity(write.id, write.values));
}

/** Brings a stream to the catalog's last change: a refresh reads on without parking. */
async function catchUp({ stream }: Followed, offset: string | null): Promise<void> {
  while (stream.lastOffset !== offset || !stream.isUpToDate) {
    await stream.forceDisconnectAndRefresh();
  }
}

describe('a Shape of the real client under random writes', () => {
  it("equals in the end what SQLite selects by the shape's where clause", async () => {
    const folder = await mkdtemp(join(tmpdir(), 'catalog-'));
    endLater(() => rm(folder, { recursive: true }));
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(writes, async (sequence) => {
        const databasePath = join(folder, `${runs++}.sqlite`);
        // A log this short also has readers fall out of it.
        const catalog = await start({ databasePath, maxLoggedChanges: 8 });
        const shapes = WHERE_CLAUSES.map(([where, ...params]) =>
          follow(catalog, { where, ...(params.length > 0 ? { params } : {}) }),
        );
        for (const write of sequence) await apply(catalog, write);

        const now = await readShape(catalog, { offset: 'now' });
        const offset = now.headers.get('electric-offset');
        await Promise.all(shapes.map((followed) => catchUp(followed, offset)));
        const seen = shapes.map(({ shape }) => byUrl(shape.currentRows));
        for (const { abort } of shapes) abort();
        await catalog.stop();

        expect(seen).toEqual(WHERE_CLAUSES.map((where) => select(databasePath, where)));
      }),
      { numRuns: 12 },
    );
  });
});

/** The rows by SQLite's own reading of the clause, as a judge independent of the engine's. */
function select(path: string, [clause, ...params]: readonly [string, ...string[]]): Row[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const values = Object.fromEntries(params.map((value, index) => [`$${index + 1}`, value]));
  const rows = database.prepare(`SELECT * FROM entities WHERE ${clause} ORDER BY url`).all(values);
  database.close();
  return rows.map((row) => ({ ...row })) as Row[];
}
