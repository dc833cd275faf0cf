import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import type { Checks } from '../support/checks.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const ROW = `INSERT INTO entities (url, type, id, status, tenant) VALUES ('u', 't', 'i', 's', 'x')`;

/** Checks in a real Postgres what the roles of `deploy/roles.sh` may do. */
export async function checkRoles(checks: Checks): Promise<void> {
  const database = await PGlite.create();
  try {
    await database.exec(readFileSync(join(DEPLOY, 'entities.sql'), 'utf8'));
    await database.exec(rolesSql());
    await checks.check('Electric and the rows have roles of their own, no superusers', async () => {
      const { rows } = await database.query(
        `SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication
         FROM pg_roles WHERE rolcanlogin AND NOT rolsuper ORDER BY rolname`,
      );
      const none = {
        rolsuper: false,
        rolcreaterole: false,
        rolcreatedb: false,
        rolbypassrls: false,
      };
      assert.deepEqual(rows, [
        { rolname: 'electric', ...none, rolreplication: true },
        { rolname: 'rows', ...none, rolreplication: false },
      ]);
    });
    await checks.check(
      'Electric owns the publication that it looks for, of whole rows',
      async () => {
        const { rows } = await database.query(
          `SELECT pubowner::regrole::text AS owner, schemaname, tablename, relreplident AS identity
         FROM pg_publication JOIN pg_publication_tables USING (pubname)
         JOIN pg_class ON relname = tablename
         WHERE pubname = 'electric_publication_default'`,
        );
        const entities = { schemaname: 'public', tablename: 'entities' };
        assert.deepEqual(rows, [{ owner: 'electric', ...entities, identity: 'f' }]);
      },
    );
    await checks.check('Electric reads the catalog and changes nothing', async () => {
      await as(database, 'electric', 'SELECT * FROM entities');
      for (const statement of [ROW, 'DELETE FROM entities', 'CREATE TABLE mine ()']) {
        await assert.rejects(
          as(database, 'electric', statement),
          /permission denied|must be owner/,
        );
      }
    });
    await checks.check('the rows are written, and none is taken away', async () => {
      await as(database, 'rows', `${ROW} ON CONFLICT (url) DO UPDATE SET status = 'y'`);
      for (const statement of ['DELETE FROM entities', 'CREATE TABLE mine ()']) {
        await assert.rejects(as(database, 'rows', statement), /permission denied/);
      }
    });
  } finally {
    await database.close();
  }
}

/** The statements of `roles.sh`, with psql's variables in their place. */
function rolesSql(): string {
  const script = readFileSync(join(DEPLOY, 'roles.sh'), 'utf8');
  const [, statements = ''] = /<<'SQL'\n([^]*)\nSQL\n/.exec(script) ?? [];
  return statements.replaceAll(':"DBNAME"', 'postgres').replaceAll(/:'\w+'/g, `'password'`);
}

async function as(database: PGlite, role: string, statement: string): Promise<void> {
  await database.exec(`SET ROLE ${role}`);
  try {
    await database.exec(statement);
  } finally {
    await database.exec('RESET ROLE');
  }
}
