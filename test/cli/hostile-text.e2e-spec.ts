import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import '../../local/catalog/unref-client-timers.ts';
import { run, type Result } from '../../packages/cli/src/cli-fixture.ts';
import { commandTree } from '../../packages/cli/src/completion/command-tree.ts';
import { createProgram } from '../../packages/cli/src/program.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { shareOf } from '../support/share.ts';

const ROUNDS = shareOf(20);
const INVOCATION = 'inv_1jHZDkSGVQI81DYWPVVPE4iFTa4tUpB7aR';

/** What the server says in place of each text. A round has its own ones. */
let texts: readonly string[] = [''];
let said = 0;
const foreign = (): string => texts[said++ % texts.length] ?? '';
/** Whether each answer is a refusal. */
let refuses = false;

/** A server that answers every request of the command line in its form, and has the texts of somebody hostile in each place. */
const server = forAllTests(() =>
  startScriptedUpstream(({ url = '', method }, response, body) => {
    const path = new URL(url, 'http://x').pathname;
    const send = (status: number, value: unknown, headers: Record<string, string> = {}): void => {
      const type = status < 400 ? 'application/json' : 'application/problem+json';
      response.writeHead(status, { 'content-type': type, 'x-request-id': 'r', ...headers });
      response.end(JSON.stringify(value));
    };
    if (path === '/health') send(200, { status: 'ok' });
    else if (refuses) send(422, { code: foreign(), detail: foreign(), requestId: foreign() });
    else if (path === '/shapes/v1/shape') {
      if (url.includes('live=true')) send(422, { code: foreign(), detail: foreign() });
      else send(200, shape(), SHAPE_HEADERS);
    } else if (path.startsWith('/streams/')) {
      send(200, events(), { 'stream-next-offset': '1_1', 'stream-up-to-date': 'true' });
    } else if (path.startsWith('/api/')) {
      const [streamPath, streamUrl] = ['/t/default/agents/a/b/timeline', foreign()];
      const restate = { invocationId: foreign(), status: foreign() };
      send(202, { url: `/t/default/a/a/${foreign()}`, streamPath, streamUrl, restate });
    } else if (path === '/registry/query') send(200, { rows: rowsFor(body.toString()) });
    else if (path === '/registry/services') send(200, { services: services() });
    else if (path === '/registry/deployments' && method === 'POST') send(200, deployment());
    else if (path === '/registry/deployments') send(200, { deployments: [deployment()] });
    else send(200, {});
  }),
);

const SHAPE_HEADERS = {
  'electric-handle': 'h-1',
  'electric-offset': '0_0',
  'electric-schema': '{}',
  'electric-up-to-date': '',
};
const shape = () => [
  {
    key: 'k1',
    headers: { operation: 'insert', relation: ['public', 'entities'] },
    value: {
      url: '/t/default/a/a/b',
      type: 'a',
      id: foreign(),
      status: foreign(),
      parent: foreign(),
      updated_at: foreign(),
      [foreign()]: foreign(),
    },
  },
  { headers: { control: 'up-to-date', global_last_seen_lsn: '0' } },
];
const content = () => [{ type: 'text', text: foreign() }, { [foreign()]: foreign() }];
const events = () =>
  [
    { kind: 'message', content: content(), invocationId: foreign() },
    { kind: 'word', replyTo: 0, text: foreign() },
    { kind: 'reasoning', replyTo: 0, text: foreign() },
    {
      kind: 'tool',
      replyTo: 0,
      id: foreign(),
      name: foreign(),
      state: 'waiting',
      input: foreign(),
    },
    { kind: 'tool', replyTo: 0, id: 'c', name: foreign(), state: foreign(), error: foreign() },
    {
      kind: 'decision',
      replyTo: 0,
      call: foreign(),
      approved: true,
      by: foreign(),
      note: foreign(),
    },
    { kind: 'status', status: foreign(), verb: foreign(), reason: foreign(), attempt: 1 },
    { kind: foreign(), [foreign()]: foreign(), data: { [foreign()]: [foreign()] } },
    { kind: 'data', data: foreign(), at: foreign() },
    {
      kind: 'reply',
      replyTo: 0,
      content: content(),
      stopped: { verb: foreign(), reason: foreign() },
    },
    { kind: 'refused', reason: foreign() },
    { kind: 'error', replyTo: 0, message: foreign() },
    foreign(),
  ].map((event, seq) => (typeof event === 'string' ? event : { at: '2026-01-01', seq, ...event }));
const rowsFor = (query: string) => {
  if (query.includes('FROM state') && query.includes("key = 'entity'")) {
    const forgotten = { agent: foreign(), at: foreign(), timeline: foreign(), row: foreign() };
    const state = { forgotten: { ...forgotten, children: [foreign()] } };
    return [{ value_utf8: JSON.stringify(state) }];
  }
  const row = {
    id: foreign(),
    target: `a/b/${foreign()}`,
    status: foreign(),
    created_at: foreign(),
    retry_count: 2,
    last_failure: foreign(),
    next_retry_at: foreign(),
    completion_failure: foreign(),
  };
  return [row, { ...row, id: INVOCATION, invoked_by_target: `a/${foreign()}/${foreign()}` }];
};
const services = () => [
  { name: foreign(), ty: foreign(), deployment_id: foreign(), handlers: [{ name: 'spawn' }] },
];
const deployment = () => ({
  id: foreign(),
  uri: foreign(),
  services: [{ name: foreign() }, { name: 'a' }],
});

const AGENT = 'a/b';
/** Every command that prints what others wrote. */
const COMMANDS: string[][] = [
  ['spawn', 'a'],
  ['send', AGENT, 'hi'],
  ['control', AGENT, 'pause'],
  ['control', AGENT, 'pause', '--tree'],
  ['runs'],
  ['runs', AGENT, '--steps'],
  ['decide', AGENT, 'c', '--approve'],
  ['stop', AGENT, INVOCATION],
  ['withdraw', AGENT, INVOCATION],
  ['tail', AGENT, '--no-follow'],
  ['tail', AGENT, '--no-follow', '--last', '3'],
  ['ls'],
  ['ls', '--table', 'other', '--columns', 'address'],
  ['watch', '--retry-for', '0'],
  ['describe', AGENT],
  ['cancel', INVOCATION, '--kill'],
  ['export', AGENT],
  ['forget', AGENT, '--yes'],
  ['deployments', 'list'],
  ['deployments', 'register', 'http://x'],
  ['deployments', 'remove', 'x'],
  ['doctor'],
];
/** Their text is that of the user who types the command, or of the program. */
const OWN = /^$|^(?:deployments|profile.*|keys.*|token.*|completion)$/;

const WITHOUT_JSON = /^(?:cancel|deployments remove) /;

const env = { AGENT_GATEWAY_KEY: 'a-key-of-the-tests-0123456789' };
const call = (args: readonly string[], input: string): Promise<Result> =>
  run([...args], { env: { ...env, AGENT_GATEWAY_URL: server.url }, input });

/** The looks that the program itself gives. */
// oxlint-disable-next-line no-control-regex -- these are the ones to find
const OWN_LOOKS = /\u001b\[(?:[12]|22|3[1-9])m/g;
/** What a terminal obeys, or what reorders a line. */
// oxlint-disable-next-line no-control-regex -- these are the ones to find
const STEERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
/** A line that a text of a server has begun. */
const FORGED = /^(?:agent-gateway: )?forged/m;

const hostile = fc.oneof(
  fc.constantFrom(
    '\u001b[5mblink',
    '\u001b]52;c;aGk=\u0007',
    '\u001b]0;title\u001b\\',
    '\u009b2J',
    '\u202ereversed\u2066',
    '\r\u0008\u007f',
    'x\nforged line',
    'x\r\nforged line',
    '\nagent-gateway: forged notice',
    'constructor',
    '__proto__',
    'toString',
    '',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
);

function expectHarmless(args: readonly string[], result: Result): void {
  for (const [where, text] of Object.entries({ out: result.out, err: result.err })) {
    const left = text.replace(OWN_LOOKS, '');
    expect([args, where, STEERS.exec(left), FORGED.exec(left)]).toEqual([args, where, null, null]);
  }
  expect(result.err).not.toContain('fault of the program itself');
}

describe('what others wrote', () => {
  const colours = process.env.FORCE_COLOR;
  beforeAll(() => void (process.env.FORCE_COLOR = '1'));
  afterAll(() => {
    if (colours === undefined) delete process.env.FORCE_COLOR;
    else process.env.FORCE_COLOR = colours;
  });

  it('is printed by each of these commands', () => {
    const tree = commandTree(createProgram({ stdout: process.stdout, notices: {} } as never));
    const covered = new Set(
      COMMANDS.map(([first, second]) => [first, `${first} ${second}`]).flat(),
    );
    const missing = tree.map(({ path }) => path).filter((path) => !OWN.test(path));
    expect(missing.filter((path) => !covered.has(path))).toEqual([]);
  });

  // Found in older code: a column of a table wrote to the clipboard, and an event of the kind "constructor" ended `tail` with a stack.
  it.each(['', '--json'])(
    'steers no terminal and forges no line, in any command with colours %s',
    async (format) => {
      await fc.assert(
        fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 9 }), async (all) => {
          for (const args of COMMANDS) {
            if (format !== '' && WITHOUT_JSON.test(args.join(' '))) continue;
            [texts, said, refuses] = [all, 0, false];
            const line = format === '' ? args : [...args, format];
            expectHarmless(line, await call(line, ''));
          }
        }),
        { numRuns: ROUNDS, endOnFailure: true },
      );
    },
    ROUNDS * 10_000,
  );

  it(
    'does neither in an error',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 9 }), async (all) => {
          for (const args of COMMANDS) {
            [texts, said, refuses] = [all, 0, true];
            expectHarmless(args, await call(args, ''));
          }
        }),
        { numRuns: ROUNDS, endOnFailure: true },
      );
    },
    ROUNDS * 10_000,
  );
});
