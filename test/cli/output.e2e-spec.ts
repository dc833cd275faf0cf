import { execFile, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { killAllClis, reaches, runCli, startCli } from '../support/cli.ts';
import { AUTHORIZED, startTestGateway } from '../support/gateway.ts';
import { startHistory } from '../support/history.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { newFolder } from '../support/new-folder.ts';

const MAIN = join(import.meta.dirname, '../../packages/cli/src/main.ts');
const ESCAPE = '\u001b[';
afterAll(killAllClis);
const folder = forAllTests(newFolder);
const history = forAllTests(() => startHistory({ longPollTimeoutMs: 1_000 }));
const gateway = forAllTests(() => startTestGateway({ GATEWAY_HISTORY_URL: history.url }));
const env = reaches(gateway);

beforeAll(async () => {
  await write('/t/default/agents/chat/a1/timeline', 'application/json', [
    '{"seq":0,"kind":"message","content":[{"type":"text","text":"hi"}]}',
    '{"seq":1,"kind":"word","replyTo":0,"text":"You"}',
  ]);
  await write('/blob', 'application/octet-stream', ['\u0000\u0001']);
  await write('/text', 'text/plain', [`${ESCAPE}31mred`]);
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

  it('asks for the address again before it forgets an agent, and sends nothing for another word', async () => {
    const answer = { after: 'to confirm: ', type: 'yes\n' };
    const { code, screen } = await onTerminal(['forget', 'chat/a1', '--children'], {}, answer);
    expect({ code, screen: screen.replace(/yes\n/g, '') }).toEqual({
      code: 1,
      screen:
        `This deletes chat/a1 and the agents that it spawned at ${gateway.url}, for good.\n` +
        'Type chat/a1 to confirm: agent-gateway: Nothing was sent.\n',
    });
    const meant = { after: 'to confirm: ', type: 'chat/a1\n' };
    const { screen: asked } = await onTerminal(['forget', 'chat/a1'], {}, meant);
    // It has come so far: this gateway has no runtime.
    expect(asked).toMatch(/agent-gateway: 50\d /);
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
      response.writeHead(410, {
        'content-type': 'application/problem+json',
        'x-request-id': 'r1',
      });
      response.end(JSON.stringify({ code: 'parrot', detail: said, requestId: said }));
    });
    const file = join(folder.path, 'key');
    await writeFile(file, `${key}\n`, { mode: 0o644 });
    const config = join(folder.path, 'config.json');
    const profile = { url: parrot.url, key };
    await writeFile(config, JSON.stringify({ default: 'x', profiles: { x: profile } }));
    const inEnvironment = { AGENT_GATEWAY_KEY: key, AGENT_GATEWAY_URL: parrot.url };
    const send = ['send', 'chat/a1', 'hi'];
    const ways: [string[], Record<string, string>][] = [
      [[...send, '--key', key, '--url', parrot.url], {}],
      [[...send, '--key-file', file, '--url', parrot.url], {}],
      [send, inEnvironment],
      [['tail', 'chat/a1'], inEnvironment],
      [['ls'], inEnvironment],
      [['doctor'], inEnvironment],
      [[...send, '--config', config], {}],
      [[...send, '--key', key, '--url', 'http://127.0.0.1:2', '--retry-for', '0'], {}],
      [[...send, '--key', key, '--url', `http://${key}@127.0.0.1`], {}],
      [[...send, '--key', `${key} ${key}`], {}],
      [[...send, `--kez=${key}`], {}],
    ];
    const said: string[] = [];
    for (const [args, more] of ways) {
      const { code, out, err } = await runCli(args, { env: more });
      expect([args, code]).not.toEqual([args, 0]);
      said.push(out + err);
    }
    await parrot.stop();
    for (const text of said) {
      expect(text).not.toBe('');
      expect(text).not.toContain(key);
    }
    // Else the parrot would have had nothing to say back.
    expect(said.filter((text) => text.includes('you said Bearer [key]'))).toHaveLength(7);
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
