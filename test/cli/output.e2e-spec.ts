import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { killAllClis, reaches, runCli, startCli, type CliResult } from '../support/cli.ts';
import {
  AUTHORIZED,
  READ_TOKEN_SECRET,
  startTestGateway,
  type TestGateway,
} from '../support/gateway.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

const MAIN = join(import.meta.dirname, '../../packages/cli/src/main.ts');
const ESCAPE = '\u001b[';
let history: RunningHistory;
let gateway: TestGateway;
let env: Record<string, string>;
let folder: string;

beforeAll(async () => {
  history = await startHistory({ longPollTimeoutMs: 1_000 });
  gateway = await startTestGateway({ GATEWAY_HISTORY_URL: history.url });
  env = reaches(gateway.url);
  folder = await mkdtemp(join(tmpdir(), 'cli-output-'));
  await write('/t/default/agents/chat/a1/timeline', 'application/json', [
    '{"seq":0,"kind":"message","content":[{"type":"text","text":"hi"}]}',
    '{"seq":1,"kind":"word","replyTo":0,"text":"You"}',
  ]);
  await write('/blob', 'application/octet-stream', ['\u0000\u0001']);
  await write('/text', 'text/plain', [`${ESCAPE}31mred`]);
});
afterAll(async () => {
  await killAllClis();
  await gateway.stop();
  await history.stop();
  await rm(folder, { recursive: true });
});

async function write(path: string, contentType: string, bodies: string[]): Promise<void> {
  const url = `${gateway.url}/streams${path}`;
  const headers = { ...AUTHORIZED, 'content-type': contentType };
  expect((await fetch(url, { method: 'PUT', headers })).status).toBe(201);
  for (const body of bodies) {
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(204);
  }
}

/** Runs the command line on a terminal of its own, which merges both outputs. Types `type` after a given output. */
function onTerminal(
  args: string[],
  more: Record<string, string> = {},
  { after, type }: { after: string; type: string } = { after: '', type: '' },
): Promise<{ code: number | null; screen: string }> {
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { PATH: process.env.PATH, HOME: '/nonexistent', TERM: 'xterm-256color', ...env, ...more },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  let isTyped = type === '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    if (isTyped || !screen.includes(after)) return;
    isTyped = true;
    child.stdin.write(type);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, screen: screen.replaceAll('\r\n', '\n') }));
  });
}

describe('on a terminal', () => {
  const tail = ['tail', 'chat/a1', '--no-follow'];

  it('has colours, unless NO_COLOR is set', async () => {
    const coloured = await onTerminal(tail);
    expect(coloured.code).toBe(0);
    expect(coloured.screen).toContain(`${ESCAPE}36mmessage `);
    const plain = await onTerminal(tail, { NO_COLOR: '1' });
    expect(plain).toMatchObject({ code: 0, screen: expect.stringMatching(/message {6}hi\n/) });
    expect(plain.screen).not.toContain(ESCAPE);
    const help = await onTerminal(['--help']);
    expect(help.screen).toContain(`${ESCAPE}1mUsage:${ESCAPE}22m agent-gateway`);
  });

  it('has none in a pipe, unless FORCE_COLOR is set', async () => {
    expect((await runCli(tail, { env })).out).not.toContain(ESCAPE);
    const forced = await runCli(tail, { env: { ...env, FORCE_COLOR: '1' } });
    expect(forced.out).toContain(`${ESCAPE}36mmessage `);
    expect((await runCli(['--help'], { env })).out).not.toContain(ESCAPE);
  });

  it('ends on Ctrl-C with a whole line, the place where to go on, and 130', async () => {
    const ctrlC = { after: 'You', type: '\u0003' };
    const { code, screen } = await onTerminal(['tail', 'chat/a1'], { NO_COLOR: '1' }, ctrlC);
    expect(code).toBe(130);
    expect(screen).toMatch(
      /word {9}You(?:\^C)?\nagent-gateway: To continue from here: --from \d+_\d+\n$/,
    );
  });

  it('keeps bytes off it, and what would steer it', async () => {
    const binary = await onTerminal(['tail', '/blob', '--no-follow']);
    expect(binary).toEqual({
      code: 2,
      screen:
        'agent-gateway: This stream is application/octet-stream, which is not for a terminal.\n' +
        'agent-gateway: Send it to a file or a program, or take --json.\n',
    });
    const text = await onTerminal(['tail', '/text', '--no-follow']);
    expect(text).toEqual({ code: 0, screen: '\\u001b[31mred' });
    expect((await runCli(['tail', '/text', '--no-follow'], { env })).out).toBe(`${ESCAPE}31mred`);
  });
});

describe('no credential', () => {
  const key = 'never-to-be-seen-0123456789';

  it('is in any output, whatever goes wrong', async () => {
    // One that says back all that it gets.
    const parrot = await startScriptedUpstream((request, response) => {
      if (request.url === '/health') {
        response.end('{"status":"ok"}');
        return;
      }
      const said = `you said ${request.headers.authorization}`;
      response.writeHead(410, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ code: 'parrot', detail: said, requestId: said }));
    });
    const file = join(folder, 'key');
    await writeFile(file, `${key}\n`, { mode: 0o644 });
    const config = join(folder, 'config.json');
    const profile = { url: parrot.url, key };
    await writeFile(config, JSON.stringify({ default: 'x', profiles: { x: profile } }));
    const ways: [string[], Record<string, string>][] = [
      [['--key', key, '--url', parrot.url], {}],
      [['--key-file', file, '--url', parrot.url], {}],
      [[], { AGENT_GATEWAY_KEY: key, AGENT_GATEWAY_URL: parrot.url }],
      [['--config', config], {}],
      [['--key', key, '--url', 'http://127.0.0.1:1', '--retry-for', '0'], {}],
      [['--key', key, '--url', `http://${key}@127.0.0.1`], {}],
      [['--key', `${key} ${key}`], {}],
      [[`--kez=${key}`], {}],
    ];
    const inEnvironment: (typeof ways)[number] = [
      [],
      { AGENT_GATEWAY_KEY: key, AGENT_GATEWAY_URL: parrot.url },
    ];
    const runs = [
      ...ways.map((way) => [['send', 'chat/a1', 'hi'], way] as const),
      [['tail', 'chat/a1'], inEnvironment] as const,
      [['ls'], inEnvironment] as const,
      [['doctor'], inEnvironment] as const,
    ];
    const results: CliResult[] = [];
    for (const [command, [args, more]] of runs) {
      results.push(await runCli([...command, ...args], { env: more }));
    }
    await parrot.stop();
    for (const result of results) {
      expect(result.code).not.toBe(0);
      expect(`${result.out}${result.err}`).not.toBe('');
      expect(`${result.out}${result.err}`).not.toContain(key);
    }
    // Else the parrot would have had nothing to say back.
    const repeated = results.filter(({ out, err }) =>
      `${out}${err}`.includes('you said Bearer [key]'),
    );
    expect(repeated).toHaveLength(7);
  });

  it('is in the arguments of a process that reads it from standard input', async () => {
    const cli = startCli(['tail', 'chat/a1', '--key-file', '-', '--url', gateway.url], {
      input: env.AGENT_GATEWAY_KEY ?? '',
    });
    await cli.until(({ out }) => out.includes('You'));
    const shown = await new Promise<string>((resolve) => {
      execFile('ps', ['-o', 'args=', '-p', String(cli.child.pid)], (_, out) => resolve(out));
    });
    cli.signal('SIGINT');
    await cli.ended;
    expect(shown).toContain('--key-file -');
    expect(shown).not.toContain(env.AGENT_GATEWAY_KEY);
  });
});

describe('agent-gateway token', () => {
  const settings = { GATEWAY_READ_TOKEN_SECRETS: READ_TOKEN_SECRET };

  it('mints a token that opens what it says, and examines it', async () => {
    const prefix = '/streams/t/default/agents/chat/a1';
    const mint = ['token', 'mint', '--prefix', prefix, '--ttl', '5m', '--subject', 'ada'];
    const minted = await runCli(mint, { env: settings });
    expect(minted).toEqual({
      code: 0,
      out: expect.stringMatching(/^[\w-]+(\.[\w-]+){2}\n$/),
      err: '',
    });
    const read = await runCli(['tail', 'chat/a1', '--no-follow', '--json', '--key-file', '-'], {
      env: { AGENT_GATEWAY_URL: gateway.url },
      input: minted.out,
    });
    expect(read).toMatchObject({ code: 0, err: '' });
    const words = await runCli(['token', 'inspect'], { env: settings, input: minted.out });
    expect(words).toMatchObject({ code: 0, err: '' });
    expect(words.out).toContain(`\n  ${prefix} and all below it\n`);
    const json = await runCli(['token', 'inspect', '-', '--json'], {
      env: settings,
      input: minted.out,
    });
    const { claims, ...rest } = JSON.parse(json.out) as { claims: { iat: number; exp: number } };
    expect(rest).toEqual({ header: { alg: 'HS256', typ: 'JWT' }, accepted: true, why: '' });
    expect(claims).toMatchObject({ aud: 'default', sub: 'ada', prefix });
    expect(claims.exp - claims.iat).toBe(300);
    const check = async (path: string): Promise<object> => {
      const args = ['token', 'check', '-', path, '--json'];
      const { code, out } = await runCli(args, { env: settings, input: minted.out });
      return { code, ...(JSON.parse(out) as object) };
    };
    expect(await check(`${prefix}/timeline`)).toEqual({
      code: 0,
      open: true,
      why: expect.stringMatching(/^until 2/),
    });
    expect(await check(`${prefix}0/timeline`)).toEqual({
      code: 1,
      open: false,
      why: expect.stringMatching(/^403 prefix_not_covered\. /),
    });
  });

  it('says why it mints none', async () => {
    const without = await runCli(['token', 'mint', '--prefix', '/streams', '--ttl', '60']);
    expect(without).toMatchObject({ code: 2, out: '' });
    expect(without.err).toMatch(
      /^agent-gateway: There is no secret to sign with: set GATEWAY_READ/,
    );
    const tooLong = await runCli(['token', 'mint', '--prefix', '/streams', '--ttl', '2d'], {
      env: settings,
    });
    expect(tooLong).toEqual({
      code: 2,
      out: '',
      err: 'agent-gateway: The read token is not valid here: exp - iat must not be over 86400 seconds.\n',
    });
  });
});
