import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { run } from './cli-fixture.ts';
import { commandTree } from './completion/command-tree.ts';
import { exitCodeOf } from './exit-codes.ts';
import { Notices } from './output/notices.ts';
import { createProgram } from './program.ts';

describe('the usage of the command line', () => {
  it.each<[string[], string]>([
    [['send', 'ada', 'hi'], '"ada" is no address: give type/id, such as assistant/ada.'],
    [['send', '1x/ada', 'hi'], 'The entity type "1x" must be 1 to 63 letters'],
    [['send', 'a/ö', 'hi'], 'The entity id "ö" must be 1 to 128 characters'],
    [['send', 'a/b/c', 'hi'], '"a/b/c" is no address'],
    [['send', '/t/x/agents/a/b/timeline', 'hi'], '"/t/x/agents/a/b/timeline" is no address'],
    [['send', 'a/b'], 'Nothing to send. Give a text, - for standard input, or --file.'],
    [['send', 'a/b', 'hi', '--file', 'x'], 'Nothing to send.'],
    [['send', 'a/b', '--file', '/nowhere/x'], '/nowhere/x cannot be read (ENOENT).'],
    [['send', 'a/b', 'hi', '--until', 'reply'], '--until goes with --tail.'],
    [['send', 'a/b', 'hi', '--idempotency-key', 'a\tb'], '--idempotency-key must be 1 to 1,024'],
    [['send', 'a/b', 'hi', '--retry-for', 'long'], '--retry-for must be a number of seconds.'],
    [['send', 'a/b', 'hi', 'more'], "too many arguments for 'send'"],
    [['spawn', 'restate'], 'The entity type "restate" must not be "restate" or "openapi"'],
    [['spawn', 'a', '--args', '{x}'], 'The spawn arguments must be JSON'],
    [['spawn', 'a', '--args', '1', '--args-file', 'x'], '--args and --args-file are both given'],
    [['spawn', 'a', '--parent', 'b'], '"b" is no address'],
    [
      ['control', 'a/b', 'explode'],
      "command-argument value 'explode' is invalid for argument 'verb'",
    ],
    [['control', 'a/b'], "missing required argument 'verb'"],
    [['decide', 'a/b', 'k.1'], 'Give either --approve or --deny.'],
    [['decide', 'a/b', 'k.1', '--approve', '--deny'], 'Give either --approve or --deny.'],
    [['decide', 'a/b', 'k.1', '--deny', '--input', '1'], '--input goes with --approve.'],
    [['decide', 'a/b', 'k.1', '--approve', '--input', '{'], '--input must be JSON'],
    [['decide', 'a/b', '', '--approve'], 'The call has no id.'],
    [['stop', 'a/b', 'k.1'], '"k.1" is no turn: give its invocation (inv_…)'],
    [['withdraw', 'a/b', 'inv'], '"inv" is no turn'],
    [['export', 'ada'], '"ada" is no address'],
    [['forget', 'a/b'], 'Nobody can be asked here, so nothing was sent. --yes forgets'],
    [['tail', '/streams/../api'], 'The path "/streams/../api" holds a dot segment'],
    [['tail', '/streams/x?offset=1'], 'The path "/streams/x?offset=1" has a query.'],
    [['tail', 'http://127.0.0.1:9/api/x'], '"http://127.0.0.1:9/api/x" is not below /streams/.'],
    [['tail', 'http://other/streams/x'], 'is not on the gateway at http://127.0.0.1:9.'],
    [['tail', 'a/b', '--from', 'the start'], '--from must be start, now or an offset.'],
    [['tail', 'a/b', '--live', 'soon'], "option '--live <how>' argument 'soon' is invalid"],
    [['ls', '--param', 'x'], '--param goes with --where.'],
    [['token', 'mint', '--ttl', '60'], "required option '--prefix <path>' not specified"],
    [
      ['token', 'mint', '--prefix', '/streams', '--ttl', 'soon'],
      '--ttl must be seconds, or such as',
    ],
    [
      ['token', 'mint', '--prefix', '/streams', '--ttl', '1', '--shape', '{'],
      '--shape must be JSON',
    ],
    [['keys', 'hash', '/nowhere/x'], '/nowhere/x cannot be read (ENOENT).'],
    [['completion', 'tcsh'], "command-argument value 'tcsh' is invalid for argument 'shell'"],
    [['sent', 'a/b'], "unknown command 'sent'"],
    [['ls', '--url', 'ftp://x'], 'The address from --url must be an http or https URL'],
    [['ls', '--tenant', 'a/b'], 'The tenant must be 1 to 63 letters'],
    [['ls', '--key', 'a', '--key-file', 'b'], '--key and --key-file are both given'],
    [['ls', '--key-file', '/nowhere/key'], 'The key file /nowhere/key cannot be read (ENOENT).'],
    [
      ['ls', '--key', 'two words'],
      'The key from --key holds spaces or characters that no key has.',
    ],
    [['ls', '--key', `sha256:${'0'.repeat(64)}`], '--key holds the hash of a key'],
    [['ls', '--key-file', '-'], 'There is no key in the standard input.'],
    [['ls', '--profile', 'prod'], 'There is no profile "prod"'],
  ])('refuses %j with 2 and says why', async (args, message) => {
    const result = await run(args);
    expect(result).toMatchObject({ code: 2, out: '' });
    expect(result.err).toMatch(/^agent-gateway: /);
    expect(result.err).toContain(message);
  });

  it('repeats no value of an option that it does not know, as it may be a key', async () => {
    const { code, err } = await run(['ls', '--kye=secret-key-0123456789']);
    expect({ code, err }).toEqual({
      code: 2,
      err:
        "agent-gateway: unknown option '--kye'\n" +
        'agent-gateway: How it is used: agent-gateway ls --help\n',
    });
  });

  it('prints how it is used where nothing is asked, and ends with 2', async () => {
    const { code, out, err } = await run([]);
    expect({ code, err }).toEqual({ code: 2, err: '' });
    expect(out).toMatch(/^Usage: agent-gateway \[options\] \[command\]\n/);
  });
});

describe('--help', () => {
  const context = { stdout: new Writable(), notices: new Notices(new Writable()) };
  const tree = commandTree(createProgram(context as never));

  it('knows all commands', () => {
    expect(tree.map(({ path }) => path)).toEqual([
      '',
      'spawn',
      'send',
      'control',
      'decide',
      'stop',
      'withdraw',
      'tail',
      'ls',
      'watch',
      'describe',
      'runs',
      'cancel',
      'export',
      'forget',
      'deployments',
      'deployments register',
      'deployments list',
      'deployments remove',
      'doctor',
      'profile',
      'profile add',
      'profile use',
      'profile list',
      'profile remove',
      'token',
      'token mint',
      'token inspect',
      'token check',
      'keys',
      'keys generate',
      'keys explain',
      'keys hash',
      'completion',
    ]);
  });

  it.each(tree.map(({ path }) => path))('describes and shows %j', async (path) => {
    const words = path.split(' ').filter(Boolean);
    const { code, out, err } = await run([...words, '--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [usage, blank, description] = out.split('\n');
    expect([usage, blank]).toEqual([
      expect.stringMatching(new RegExp(`^Usage: agent-gateway ${path}`.trimEnd())),
      '',
    ]);
    expect(description).toMatch(/^[A-Z].{20,}/);
    // One that only holds others leaves the examples to them.
    const holdsOthers = ['token', 'keys', 'profile', 'deployments'].includes(path);
    const example = new RegExp(`\nExamples:\n  [^\n]*agent-gateway ${path}`.trimEnd());
    if (!holdsOthers) expect(out).toMatch(example);
    // What `help` says is the same.
    if (words.length < 2) expect((await run(['help', ...words])).out).toBe(out);
  });

  it.each([50, 72, 100])('wraps once, at %d columns', async (columns) => {
    for (const { path } of tree) {
      const { out } = await run([...path.split(' ').filter(Boolean), '--help'], { columns });
      const [help = '', examples = ''] = out.split('\nExamples:\n');
      const lines = [help, ...examples.split('\n\n').slice(1)].join('\n').split('\n');
      // A term may be as long as it is; its explanation is not wrapped where there is little room.
      const tooLong = lines.filter((line) => line.length > columns && !/^ {2}|^Usage: /.test(line));
      expect([path, tooLong]).toEqual([path, []]);
      // A line that ends early although the next word would fit was wrapped by hand.
      const [, , ...description] = help.split('\n');
      const ends = description.slice(0, description.indexOf(''));
      for (const [index, line] of ends.slice(0, -1).entries()) {
        const [next = ''] = (ends[index + 1] ?? '').split(' ');
        expect([path, line, `${line} ${next}`.length > columns]).toEqual([path, line, true]);
      }
    }
  });

  // It showed {"column":"address","isDescending":false}.
  it('shows defaults as a user writes them', async () => {
    for (const { path } of tree) {
      const { out } = await run([...path.split(' ').filter(Boolean), '--help']);
      expect([path, out.match(/\(default:\s+(?:["{[]|Infinity|null)[^)]*/)]).toEqual([path, null]);
    }
    expect((await run(['ls', '--help'])).out).toMatch(/\(default:\s+address\)/);
  });

  it('names every exit code that the program can end with', async () => {
    const { out } = await run(['--help']);
    const codes = [...out.matchAll(/^ {2}(\d+) /gm)].map(([, code]) => Number(code));
    expect(codes).toEqual([0, 1, 2, 3, 4, 5, 6, 129]);
    const statuses = [400, 401, 403, 404, 408, 409, 410, 413, 415, 429, 500, 502, 503, 504];
    expect(statuses.map(exitCodeOf)).toEqual([5, 3, 3, 4, 6, 5, 5, 5, 5, 6, 1, 6, 6, 6]);
  });

  it('warns that a key in a flag can be seen, and offers other ways', async () => {
    const { out } = await run(['send', '--help']);
    expect(out).toMatch(
      /--key <key> +the key itself, which others can see in the list of\s+processes/,
    );
    expect(out).toMatch(
      /--key-file <file> +a file with the API key or read token; - for standard\s+input/,
    );
  });
});

describe('agent-gateway keys', () => {
  it('makes a new key each time, and the hash that a gateway takes for it', async () => {
    const first = await run(['keys', 'generate', '--json']);
    const second = await run(['keys', 'generate']);
    const { key, hash } = JSON.parse(first.out) as { key: string; hash: string };
    expect(key).toMatch(/^agk_[\w-]{43}$/);
    expect(second.out).toMatch(/^agk_[\w-]{43}\n$/);
    expect(second.out.trim()).not.toBe(key);
    expect(second.err).toMatch(
      /^agent-gateway: Its entry, for the gateway: sha256:[0-9a-f]{64}\n$/,
    );
    expect(await run(['keys', 'hash'], { input: `${key}\n` })).toEqual({
      code: 0,
      out: `${hash}\n`,
      err: '',
    });
  });

  it('makes the entry for a name, scopes and paths, and says what such entries open', async () => {
    const attributes = ['--name', 'agents', '--scopes', 'streams:read+streams:write'];
    const made = await run([
      'keys',
      'generate',
      '--json',
      ...attributes,
      '--paths',
      '/streams/t/a%20b',
    ]);
    const { key, hash, entry } = JSON.parse(made.out) as {
      key: string;
      hash: string;
      entry: string;
    };
    expect(entry).toBe(
      `${hash} name=agents scopes=streams:read+streams:write paths=/streams/t/a%20b`,
    );
    const input = `${entry}\n\na-good-key-0123456789 name=all\n`;
    expect(await run(['keys', 'explain'], { input })).toEqual({
      code: 0,
      out: 'agents: streams:read, streams:write; of streams only /streams/t/a%20b\nall: everything\n',
      err: '',
    });
    expect(made.out).toContain(key);
    const bad = await run(['keys', 'explain'], { input: `${key} scopes=sesame\n${key} nonsense` });
    expect([bad.code, bad.out]).toEqual([2, '']);
    expect(bad.err).toMatch(/line 1 has scopes= .*; line 2 has something else/);
    expect(bad.err).not.toMatch(/sesame|nonsense|agk_/);
    const large = await run(['keys', 'explain'], { input: `${entry}\n#${'x'.repeat(1_048_576)}` });
    expect(large).toEqual({
      code: 2,
      out: '',
      err: 'agent-gateway: The list is larger than 1 MiB.\n',
    });
    const refused = await run(['keys', 'generate', '--name', 'Sesame']);
    expect([refused.code, refused.out]).toEqual([2, '']);
    expect(refused.err).toMatch(/^agent-gateway: The key must have a name/);
    const unnamed = await run(['keys', 'generate', '--scopes', 'commands']);
    expect([unnamed.code, unnamed.out]).toEqual([2, '']);
    expect(unnamed.err).toMatch(/^agent-gateway: The key must have a name=/);
  });

  it.each([
    'short',
    '',
    'sha256:x',
    'two words are no key',
    '/streams/t/default/agents',
    'scopes=streams:read+streams:write',
    'x'.repeat(257),
    'a-good-key-0123456789\nand-another-9876543210',
  ])('hashes none that a gateway would not take: %j', async (input) => {
    const { code, out, err } = await run(['keys', 'hash'], { input });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^agent-gateway: This is no key: it /);
    if (input !== '') expect(err).not.toContain(input.split('\n')[0]);
  });
});
