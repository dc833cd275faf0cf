import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deleteEntity, entity, putEntity } from '../../local/catalog/catalog-fixture.ts';
import { startCatalog } from '../../local/catalog/catalog-server.ts';
import { jsonLines, killAllClis, reaches, runCli, startCli } from '../support/cli.ts';
import { READ_TOKEN_SECRET, startTestGateway } from '../support/gateway.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { startWatchedServer } from '../support/watched-server.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { forAllTests } from '../support/for-this-test.ts';

const ROWS = [
  entity('a1', { type: 'chat', status: 'running', updated_at: '2026-11-21T16:02:11Z' }),
  entity('a2', { type: 'chat', parent: '/t/acme/a/chat/a1' }),
  entity('b1', { type: 'echo', tenant: 'other', status: 'archived' }),
];

afterAll(killAllClis);
const catalog = forAllTests(() =>
  startCatalog({ port: 0, databasePath: ':memory:', longPollTimeoutMs: 1_000 }),
);
const gateway = forAllTests(() =>
  startTestGateway({ GATEWAY_SYNC_URL: catalog.url, GATEWAY_TENANT: 'acme' }),
);
const env = reaches(gateway);
beforeAll(async () => {
  for (const row of ROWS) {
    await putEntity(catalog, { ...row, url: `/t/${row.tenant}/a/${row.type}/${row.id}` });
  }
});

const ids = (out: string): string[] =>
  jsonLines<{ id: string }>(out)
    .map(({ id }) => id)
    .sort();

describe('agent-gateway ls', () => {
  it('prints the rows in columns', async () => {
    expect(await runCli(['ls'], { env })).toEqual({
      code: 0,
      out: [
        'ADDRESS  STATUS    UPDATED_AT           PARENT',
        'chat/a1  running   2026-11-21 16:02:11',
        'chat/a2  idle      2026-01-01 00:00:00  /t/acme/a/chat/a1',
        'echo/b1  archived  2026-01-01 00:00:00\n',
      ].join('\n'),
      err: '',
    });
    expect(await runCli(['ls', '--columns', 'id, status'], { env })).toEqual({
      code: 0,
      out: 'ID  STATUS\na1  running\na2  idle\nb1  archived\n',
      err: '',
    });
  });

  it.each<[string[], string[]]>([
    [
      ['--type', 'chat'],
      ['a1', 'a2'],
    ],
    [['--type', 'chat', '--status', 'idle'], ['a2']],
    [['--parent', 'chat/a1', '--tenant', 'acme'], ['a2']],
    [['--where', 'id = $1 OR id = $2', '--param', 'a1', '--param', 'b1', '--type', 'echo'], ['b1']],
  ])('prints rows as JSON, those that are wanted: %j', async (args, expected) => {
    const { code, out, err } = await runCli(['ls', '--json', ...args], { env });
    expect({ code, ids: ids(out), err }).toEqual({ code: 0, ids: expected, err: '' });
  });

  // An order that did not exist was none, and was not said.
  it.each([
    ['--sort', 'nope'],
    ['--columns', 'id,nope'],
  ])('refuses %s %s as wrong usage', async (option, columns) => {
    expect(await runCli(['ls', option, columns], { env })).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(
        /^agent-gateway: There is no column "nope"\.\nagent-gateway: There are address, .*\bstatus\b.*\.\n$/,
      ),
    });
  });

  it('takes options before the command, too', async () => {
    const before = await runCli(['--retry-for', '5', '--json', 'ls', '--type', 'echo'], { env });
    expect({ ...before, out: ids(before.out) }).toEqual({ code: 0, out: ['b1'], err: '' });
  });

  it('prints nothing where there is nothing, and says so beside', async () => {
    expect(await runCli(['ls', '--type', 'none'], { env })).toEqual({
      code: 0,
      out: '',
      err: 'agent-gateway: There is nothing of that kind.\n',
    });
  });

  it('shows a read token the rows of the tenant', async () => {
    const token = await mintReadToken(READ_TOKEN_SECRET, {
      prefix: '/shapes/v1/shape',
      ttlSeconds: 60,
      audience: 'acme',
    });
    const list = (...args: string[]) => {
      const own = { AGENT_GATEWAY_URL: gateway.url };
      return runCli(['ls', '--json', ...args, '--key-file', '-'], {
        env: own,
        input: `${token}\n`,
      });
    };
    const all = await list();
    expect({ ...all, out: ids(all.out) }).toEqual({ code: 0, out: ['a1', 'a2'], err: '' });
    // All that the options make of a query passes with a token, too.
    const where = ['--where', 'id = $1 OR id = $2', '--param', 'a1', '--param', 'b1'];
    const some = await list(...where, '--type', 'chat');
    expect({ ...some, out: ids(some.out) }).toEqual({ code: 0, out: ['a1'], err: '' });
    expect(await list('--table', 'notes')).toEqual({
      code: 3,
      out: '',
      err: expect.stringMatching(/^agent-gateway: 403 table_not_allowed\. /),
    });
  });

  it('says what the engine makes of a wrong query', async () => {
    expect(await runCli(['ls', '--where', 'nonsense ='], { env })).toEqual({
      code: 5,
      out: '',
      err: expect.stringMatching(
        /^agent-gateway: 400 from behind the gateway\. .+ \(request \w{26}\)\n$/,
      ),
    });
  });

  it('ends with 6 where the engine is not there, and where no catalog is', async () => {
    const without = await startTestGateway();
    const result = await runCli(['ls', '--retry-for', '0'], { env: reaches(without) });
    await without.stop();
    expect(result).toEqual({
      code: 6,
      out: '',
      err: expect.stringMatching(
        /^agent-gateway: 502 upstream_unreachable\. .+ \(request \w{26}\)\nagent-gateway: Is this the right address\? Try agent-gateway doctor\.\n$/,
      ),
    });
    const other = await startScriptedUpstream((_, response) => response.end('<html>'));
    const strange = await runCli(['ls'], { env: reaches(other) });
    await other.stop();
    expect(strange).toEqual({
      code: 6,
      out: '',
      err: `agent-gateway: What answers at ${other.url} does not seem to be an agent gateway. The answer is no catalog: it has none of the headers of Electric.\n`,
    });
  });
});

describe('agent-gateway watch', () => {
  it('prints what is there, then each change as a line, until Ctrl-C', async () => {
    const watch = startCli(['watch', '--type', 'watched'], { env });
    const row = entity('w1', { type: 'watched', url: '/t/acme/a/watched/w1' });
    await putEntity(catalog, row);
    await watch.until(({ out }) => out.includes('+ watched/w1'));
    await putEntity(catalog, { ...row, status: 'running', updated_at: '2026-11-21T00:00:00Z' });
    await watch.until(({ out }) => out.includes('~ watched/w1'));
    await putEntity(catalog, { ...row, status: 'running', updated_at: '2026-11-22T00:00:00Z' });
    await watch.until(({ out }) => out.split('\n').length > 3);
    await deleteEntity(catalog, '/t/acme/a/watched/w1');
    await watch.until(({ out }) => out.includes('- watched/w1'));
    watch.signal('SIGINT');
    const { code, out, err } = await watch.ended;
    expect({ code, err }).toEqual({ code: 130, err: '' });
    expect(out.replaceAll(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}/gm, '')).toBe(
      [
        '+ watched/w1  idle',
        '~ watched/w1  status: idle → running',
        '~ watched/w1  updated_at: 2026-11-21 00:00:00 → 2026-11-22 00:00:00',
        '- watched/w1  running\n',
      ].join('\n'),
    );
  });

  it('leaves out what is there at first with --changes-only, and prints JSON with --json', async () => {
    const row = entity('c1', { type: 'changed', url: '/t/acme/a/changed/c1' });
    await putEntity(catalog, row);
    const args = ['watch', '--type', 'changed', '--changes-only', '--json'];
    const front = await startWatchedServer(gateway.url);
    const watch = startCli(args, { env: reaches(front) });
    await front.until(({ target }) => target.includes('live=true'));
    await putEntity(catalog, { ...row, status: 'paused' });
    await watch.until(({ out }) => out !== '');
    watch.signal('SIGINT');
    const { out } = await watch.ended;
    await front.stop();
    expect(JSON.parse(out)).toEqual({
      operation: 'update',
      key: '"public"."entities"/"//t//acme//a//changed//c1"',
      row: { ...row, status: 'paused' },
      before: { status: 'idle' },
    });
  });
});
