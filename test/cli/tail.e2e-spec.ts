import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { jsonLines, killAllClis, reaches, runCli, startCli } from '../support/cli.ts';
import { AUTHORIZED, READ_TOKEN_SECRET, startTestGateway } from '../support/gateway.ts';
import { startHistory } from '../support/history.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { newFolder } from '../support/new-folder.ts';
import { startWatchedServer } from '../support/watched-server.ts';

const AT = '2026-11-21T16:02:11.123Z';
afterAll(killAllClis);
const folder = forAllTests(newFolder);
const history = forAllTests(() => startHistory({ longPollTimeoutMs: 1_000 }));
const gateway = forAllTests(() => startTestGateway({ GATEWAY_HISTORY_URL: history.url }));
/** A proxy in front of the gateway. It reports how far a read has come. */
const front = forAllTests(() => startWatchedServer(gateway.url));
const env = reaches(front);

const timeline = (id: string): string => `/t/default/agents/chat/${id}/timeline`;

async function create(path: string, contentType = 'application/json'): Promise<void> {
  const headers = { ...AUTHORIZED, 'content-type': contentType };
  const answer = await fetch(`${gateway.url}/streams${path}`, { method: 'PUT', headers });
  expect(answer.status).toBe(201);
}

async function append(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  more: Record<string, string> = {},
): Promise<void> {
  const headers = { ...AUTHORIZED, 'content-type': 'application/json', ...more };
  const answer = await fetch(`${gateway.url}/streams${path}`, { method: 'POST', headers, body });
  expect(answer.status).toBe(204);
}

async function appendEvents(path: string, events: object[]): Promise<void> {
  for (const event of events) await append(path, JSON.stringify(event));
}

const CONVERSATION = [
  { kind: 'spawned', args: { n: 1 } },
  { kind: 'message', content: [{ type: 'text', text: 'hi\nthere' }], requestId: 'r1' },
  { kind: 'word', replyTo: 1, index: 0, text: 'You' },
  { kind: 'word', replyTo: 1, index: 1, text: ' said:' },
  { kind: 'reply', replyTo: 1, content: [{ type: 'text', text: 'You said:' }] },
  { kind: 'status', verb: 'pause', reason: 'lunch', status: 'paused' },
].map((event, seq) => ({ seq, at: AT, ...event }));

const READABLE = `\
2026-11-21 16:02:11     0  spawned      {"args":{"n":1}}
2026-11-21 16:02:11     1  message      hi
                                        there
2026-11-21 16:02:11     2  word         You said:
2026-11-21 16:02:11     4  reply        (as above)
2026-11-21 16:02:11     5  status       pause (lunch) → paused
`;

describe('agent-gateway tail', () => {
  it('prints the events there are in words, and ends with --no-follow', async () => {
    await create(timeline('a1'));
    await appendEvents(timeline('a1'), CONVERSATION);
    expect(await runCli(['tail', 'chat/a1', '--no-follow'], { env })).toEqual({
      code: 0,
      out: READABLE,
      err: '',
    });
    // Every other way to name it.
    for (const address of [
      '/t/default/a/chat/a1',
      timeline('a1'),
      `/streams${timeline('a1')}`,
      `${front.url}/streams${timeline('a1')}`,
    ]) {
      const { code, out } = await runCli(['tail', address, '--no-follow'], { env });
      expect([address, code, out]).toEqual([address, 0, READABLE]);
    }
  });

  it('prints an event as the JSON that it is with --json, a line each', async () => {
    await create(timeline('a2'));
    await append(timeline('a2'), '{"seq":0,"t":"\\u009b31m"}');
    await append(timeline('a2'), '["no","event"]');
    expect(await runCli(['tail', 'chat/a2', '--no-follow', '--json'], { env })).toEqual({
      code: 0,
      out: '{"seq":0,"t":"\\u009b31m"}\n"no"\n"event"\n',
      err: '',
    });
  });

  it.each(['sse', 'long-poll'])('follows it live by %s, and ends on Ctrl-C', async (live) => {
    const path = timeline(`live-${live}`);
    await create(path);
    await appendEvents(path, CONVERSATION.slice(0, 2));
    const cli = startCli(['tail', `chat/live-${live}`, '--live', live], { env });
    await cli.until(({ out }) => out.includes('there\n'));
    await appendEvents(path, CONVERSATION.slice(2, 4));
    await cli.until(({ out }) => out.endsWith('You said:'));
    cli.signal('SIGINT');
    const { code, out, err } = await cli.ended;
    expect({ code, out }).toEqual({
      code: 130,
      out: `${READABLE.split('\n').slice(0, 4).join('\n')}\n`,
    });
    expect(err).toMatch(/^agent-gateway: To continue from here: --from \d+_\d+\n$/);
    // What was said is true.
    const offset = /--from (\S+)/.exec(err)?.[1] ?? '';
    await appendEvents(path, CONVERSATION.slice(4));
    const rest = await runCli(['tail', `chat/live-${live}`, '--from', offset, '--no-follow'], {
      env,
    });
    expect(rest).toEqual({
      code: 0,
      out: [
        '2026-11-21 16:02:11     4  reply        You said:',
        '2026-11-21 16:02:11     5  status       pause (lunch) → paused\n',
      ].join('\n'),
      err: '',
    });
  });

  it('begins behind what is there with --from now, and ends behind the kind of --until', async () => {
    await create(timeline('a3'));
    await appendEvents(timeline('a3'), CONVERSATION.slice(0, 2));
    const cli = startCli(['tail', 'chat/a3', '--from', 'now', '--until', 'reply', '--json'], {
      env,
    });
    await front.until(
      ({ target }) => target.startsWith(`/streams${timeline('a3')}?`) && target.includes('live='),
    );
    await appendEvents(timeline('a3'), CONVERSATION.slice(2));
    const { code, out, err } = await cli.ended;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(jsonLines<{ kind: string }>(out).map(({ kind }) => kind)).toEqual([
      'word',
      'word',
      'reply',
    ]);
  });

  it('ends when the stream is closed', async () => {
    await create(timeline('closed'));
    await appendEvents(timeline('closed'), CONVERSATION.slice(0, 1));
    const cli = startCli(['tail', 'chat/closed', '--json'], { env });
    await cli.until(({ out }) => out !== '');
    await append(timeline('closed'), JSON.stringify(CONVERSATION[1]), { 'stream-closed': 'true' });
    const lines = CONVERSATION.slice(0, 2).map((event) => `${JSON.stringify(event)}\n`);
    const whole = { code: 0, out: lines.join(''), err: '' };
    expect(await cli.ended).toEqual(whole);
    expect(await runCli(['tail', 'chat/closed', '--json'], { env })).toEqual(whole);
  });

  it('says that a timeline is not there, or waits for it', async () => {
    const missing = await runCli(['tail', 'chat/late'], { env });
    expect(missing).toEqual({
      code: 4,
      out: '',
      err: expect.stringMatching(
        /^agent-gateway: 404 from behind the gateway\. Stream not found \(request \w{26}\)\nagent-gateway: --wait waits for it\./,
      ),
    });
    const cli = startCli(['tail', 'chat/late', '--wait', '--until', 'spawned', '--json'], { env });
    await front.until(({ target }) => target.includes('/late/'), 3);
    await create(timeline('late'));
    await appendEvents(timeline('late'), CONVERSATION.slice(0, 1));
    expect(await cli.ended).toEqual({
      code: 0,
      out: `${JSON.stringify(CONVERSATION[0])}\n`,
      err: '',
    });
  });

  it('tells of gaps and repetitions in the numbers', async () => {
    await create(timeline('gaps'));
    const events = [0, 1, 4, 4, 5, 7].map((seq) => ({ seq, kind: 'x' }));
    await appendEvents(timeline('gaps'), events);
    const { code, err } = await runCli(['tail', 'chat/gaps', '--no-follow', '--json'], { env });
    expect({ code, err }).toEqual({
      code: 0,
      err:
        'agent-gateway: Warning: Gap: events 2 to 3 are missing.\n' +
        'agent-gateway: Warning: Event 4 comes again, or out of order.\n' +
        'agent-gateway: Warning: Gap: event 6 is missing.\n',
    });
  });

  it('lets no event steer the terminal', async () => {
    await create(timeline('evil'));
    const text = 'a\u001b[2J\u001b]0;x\u0007\r\u202eb\u009bc';
    await appendEvents(timeline('evil'), [
      { seq: 0, kind: 'error\u001b[31m', message: text },
      { seq: 1, kind: 'word', text },
      { seq: 2, kind: 'other\n', text },
    ]);
    const { out } = await runCli(['tail', 'chat/evil', '--no-follow'], { env });
    // oxlint-disable-next-line no-control-regex
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(out.split('\n')).toHaveLength(4);
  });

  it('writes the bytes of other streams as they are', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    for (const [path, type] of [
      ['/blobs/binary', 'application/octet-stream'],
      ['/blobs/text', 'text/plain'],
    ] as const) {
      await create(path, type);
      await append(path, bytes, { 'content-type': type });
      await append(path, bytes, { 'content-type': type });
      const cli = startCli(['tail', path, '--no-follow'], { env });
      const chunks: Buffer[] = [];
      cli.child.stdout?.setEncoding('latin1').on('data', (text: string) => {
        chunks.push(Buffer.from(text, 'latin1'));
      });
      expect((await cli.ended).code).toBe(0);
      expect(Buffer.concat(chunks)).toEqual(Buffer.concat([bytes, bytes]));
    }
    const json = await runCli(['tail', '/blobs/binary', '--no-follow', '--json'], { env });
    const base64 = Buffer.concat([bytes, bytes]).toString('base64');
    expect(json).toEqual({ code: 0, out: `{"base64":"${base64}"}\n`, err: '' });
  });

  it('continues with the key that its file holds now, and says where it ended without one', async () => {
    await create(timeline('rotated'));
    await appendEvents(timeline('rotated'), CONVERSATION.slice(0, 1));
    const [theirs, ours] = [join(folder.path, 'keys'), join(folder.path, 'key')];
    const keys = ['first-key-0123456789', 'second-key-0123456789', 'third-key-0123456789'] as const;
    await writeFile(theirs, keys[0]);
    await writeFile(ours, keys[0], { mode: 0o600 });
    const rotated = await startTestGateway({
      GATEWAY_HISTORY_URL: history.url,
      GATEWAY_API_KEYS: '',
      GATEWAY_API_KEYS_FILE: theirs,
    });
    const watched = await startWatchedServer(rotated.url);
    const seen = (key: string): Promise<void> =>
      watched.until(({ headers }) => headers.authorization === `Bearer ${key}`);
    // By long-poll, as every one of them, one a second here, shows the key again.
    const args = ['--json', '--live', 'long-poll', '--key-file', ours];
    const cli = startCli(['tail', 'chat/rotated', '--url', watched.url, ...args]);
    await cli.until(({ out }) => out !== '');
    await writeFile(ours, keys[1], { mode: 0o600 });
    await writeFile(theirs, keys[1]);
    await seen(keys[1]);
    await appendEvents(timeline('rotated'), CONVERSATION.slice(1, 2));
    await cli.until(({ out }) => out.split('\n').length === 3);
    await writeFile(theirs, keys[2]);
    const result = await cli.ended;
    await watched.stop();
    await rotated.stop();
    expect(result).toEqual({
      code: 3,
      out: `${JSON.stringify(CONVERSATION[0])}\n${JSON.stringify(CONVERSATION[1])}\n`,
      err: expect.stringMatching(
        /^agent-gateway: 401 invalid_credentials\. .+\nagent-gateway: With a valid key, --from \d+_\d+ continues where this ended\.\n$/,
      ),
    });
  });

  it('reads with a read token, and says that another one opens something else', async () => {
    await create(timeline('token'));
    await appendEvents(timeline('token'), CONVERSATION);
    const tailWith = async (prefix: string) => {
      const token = await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds: 60 });
      const read = { AGENT_GATEWAY_URL: gateway.url, AGENT_GATEWAY_KEY: token };
      return runCli(['tail', 'chat/token', '--no-follow'], { env: read });
    };
    const prefix = '/streams/t/default/agents/chat/token';
    expect(await tailWith(prefix)).toEqual({ code: 0, out: READABLE, err: '' });
    expect(await tailWith(`${prefix}s`)).toEqual({
      code: 3,
      out: '',
      err: expect.stringMatching(/^agent-gateway: 403 prefix_not_covered\. /),
    });
  });

  it('ends without a word when its reader has had enough', async () => {
    await create(timeline('long'));
    await appendEvents(
      timeline('long'),
      Array.from({ length: 20 }, (_, seq) => ({ seq, kind: 'x', text: 'y'.repeat(10_000) })),
    );
    const cli = startCli(['tail', 'chat/long', '--json'], { env });
    await cli.until(({ out }) => out.length > 1_000);
    cli.child.stdout?.destroy();
    await appendEvents(timeline('long'), [{ seq: 20, kind: 'x' }]);
    expect(await cli.ended).toMatchObject({ code: 0, err: '' });
  });
});
