import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { forAllTests, forThisTest } from '../support/for-this-test.ts';
import { listening } from '../support/listening.ts';
import { listeningPorts } from '../support/listening-ports.ts';
import {
  runMain,
  startLocalSystem,
  untilTextComes,
  type LocalSystem,
} from '../support/local-system.ts';
import { newFolder } from '../support/new-folder.ts';

const run = promisify(execFile);
const PARTS = ['restate', 'history', 'catalog', 'agents', 'gateway', 'console'];
const ADA_TIMELINE = '/streams/t/default/agents/assistant/ada/timeline';

/** In this order: each finds what those before it have left. */
describe('npm run local, once started', () => {
  const folder = forAllTests(newFolder);
  const system = forAllTests(() => startLocalSystem(folder.path));

  const outputOf = async (...args: string[]) => {
    const told = runMain(folder.path, args);
    return { ...(await told.exited), lines: told.lastLines() };
  };

  it('prints four lines that spawn, send, read the timeline and watch the catalog', async () => {
    const { commands, get } = system;
    const [spawn = '', send = '', read = '', watch = ''] = commands;
    expect(commands).toHaveLength(4);

    const accepted = {
      url: '/t/default/a/assistant/ada',
      streamPath: ADA_TIMELINE.replace('/streams', ''),
      streamUrl: ADA_TIMELINE,
      restate: { invocationId: expect.stringMatching(/^inv_/) },
    };
    const written = timelineWritten(system);
    expect(await paste(spawn)).toEqual(accepted);
    await written;
    expect(await paste(send)).toEqual(accepted);

    await untilTextComes(await get(`${ADA_TIMELINE}?offset=-1&live=sse`), '"kind":"reply"');
    const events = (await paste(read)) as { seq: number; kind: string }[];
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    expect(events.slice(0, 2).map(({ kind }) => kind)).toEqual(['spawned', 'message']);
    expect(events.at(-1)?.kind).toBe('reply');

    expect(await paste(watch)).toContainEqual(
      expect.objectContaining({
        value: expect.objectContaining({ url: '/t/default/a/assistant/ada', type: 'assistant' }),
      }),
    );
  });

  it('prints a line that gives another shell the address, the key and what signs read tokens', async () => {
    const { said, get } = system;
    const line = said.find((text) => text.startsWith('  export ')) ?? '';
    const written = '/streams/t/default/mine';
    const minted = 'node packages/cli/src/main.ts token mint --prefix /streams/t/default --ttl 60';
    const { stdout } = await run('/bin/sh', [
      '-c',
      `${line}
      curl -sS -X PUT -H "Authorization: Bearer $GATEWAY_API_KEY" -H 'Content-Type: text/plain' -d x "$GATEWAY_URL${written}"
      curl -sS -H "Authorization: Bearer $(${minted})" "$GATEWAY_URL${written}?offset=-1"`,
    ]);
    expect(stdout).toBe('x');
    expect(await (await get(`${written}?offset=-1`)).text()).toBe('x');
  });

  it('keeps its data for its owner', async () => {
    await askAda(system);
    const { stdout } = await run('find', [folder.path, '-mindepth', '1', '-perm', '/077']);
    expect(stdout).toBe('');
  });

  it('listens nowhere that a page of another site could use, but for the gateway and the console', async () => {
    const { process: main, partPid, baseUrl, said } = system;
    const open = [
      baseUrl,
      ...said.flatMap((line) => /^(?:The console|How it is).*(http\S+)/.exec(line)?.[1] ?? []),
    ];
    const meant = open.map((url) => Number(new URL(url).port));
    expect(meant).toHaveLength(3);
    const ports = await listeningPorts([main.pid, ...PARTS.map(partPid)]);
    const others = ports.filter((port) => !meant.includes(port));
    // Restate's ingress and admin API, the history store, the catalog engine and the agents.
    expect(others).toHaveLength(5);

    const requests = [
      'GET /v1/stream/t/default?offset=-1',
      'PUT /v1/stream/t/default/evil',
      'DELETE /v1/stream/t/default/evil',
      'GET /v1/shape?table=entities&offset=-1',
      'PUT /rows/entities',
      'DELETE /rows/entities?url=x',
      'GET /deployments',
      'POST /deployments',
      'POST /echo/x/wake/send',
    ];
    for (const port of others) {
      const own = `Host: 127.0.0.1:${port}`;
      // The last: DNS rebinding, by which a name of the page's own site leads here.
      for (const headers of [
        `${own}\r\nOrigin: http://evil.example`,
        `${own}\r\nSec-Fetch-Site: cross-site`,
        `Host: evil.example:${port}`,
      ]) {
        for (const line of requests) {
          const text = `${line} HTTP/1.1\r\n${headers}\r\nContent-Length: 2\r\n\r\n{}`;
          // The agents speak HTTP/2 without TLS only, which no browser does.
          expect([port, text, await sendRaw(port, text)]).toEqual([
            port,
            text,
            expect.stringMatching(/^(?:HTTP\/1\.1 40[134] |$|[^H])/),
          ]);
        }
      }
    }
  });

  // Another user read the system's name in a refusal of the agents, and with it wrote rows and called the agents.
  it('opens its upstreams and agents to no other user of the machine', async () => {
    const { process: main, partPid } = system;
    const settings = JSON.parse(readFileSync(join(folder.path, 'settings.json'), 'utf8')) as {
      systemName: string;
      ports: Record<string, number>;
    };
    const { systemName: name, ports, ...secrets } = settings;
    const listening = await listeningPorts([main.pid, ...PARTS.map(partPid)]);
    expect(Object.values(ports).toSorted((a, b) => a - b)).toEqual(listening);

    const row =
      '{"url":"/t/default/a/echo/evil","type":"echo","id":"evil","status":"idle","tenant":"default"}';
    const asked: [method: string, path: string][] = [
      ['GET', '/v1/stream/t/default/agents/assistant/ada/timeline?offset=-1'],
      ['PUT', '/v1/stream/t/default/evil'],
      ['GET', '/v1/shape?table=entities&offset=-1'],
      ['PUT', '/rows/entities'],
      ['DELETE', '/rows/entities?url=/t/default/a/assistant/ada'],
      ['GET', '/deployments'],
      ['POST', '/query'],
      ['POST', '/echo/evil/wake/send'],
      ['POST', '/restate/send/echo/evil/wake'],
      ['GET', '/discover'],
      ['POST', '/invoke/echo/wake'],
      ['POST', '/api/spawn'],
      ['GET', '/shapes/v1/shape?table=entities&offset=-1'],
      ['GET', '/streams/t/default/agents/assistant/ada/timeline?offset=-1'],
      ['GET', '/registry/deployments'],
    ];
    const hidden = [name, ...Object.values(secrets).map(String)];
    const all = asked.flatMap(([method, path]) => [
      { method, path },
      { method, path: `/${name}${path}` },
    ]);
    const refusal = expect.stringMatching(/^40[134]$/);
    for (const part of ['ingress', 'admin', 'history', 'catalog', 'agents', 'gateway']) {
      const port = ports[part]!;
      for (const { method, path } of all) {
        const answer = await (part === 'agents' ? askHttp2 : askHttp1)(port, method, path, row);
        expect([part, method, path, answer.status]).toEqual([part, method, path, refusal]);
        expect(hidden.filter((text) => answer.text.includes(text) && !path.includes(text))).toEqual(
          [],
        );
      }
    }
    expect(await catalogUrls(system)).not.toContain('/t/default/a/echo/evil');
    expect(await catalogUrls(system)).toContain('/t/default/a/assistant/ada');
  });

  // The line to export had scrolled away behind the log, and a second start said only that there was a first one.
  it('tells what runs where and gives the export line again, in a file too, and at a second start', async () => {
    const { process: main, said, partPid } = system;
    const line = said.find((text) => text.startsWith('  export '))?.trim();
    const status = [
      `The local system runs (pid ${main.pid}):`,
      ...PARTS.map((part) => expect.stringMatching(`^  ${part} +pid ${partPid(part)} +http://`)),
    ];
    expect(await outputOf('--env')).toEqual({ code: 0, signal: null, lines: [line] });
    expect(await outputOf('--status')).toEqual({ code: 0, signal: null, lines: status });
    const { stdout } = await run('/bin/sh', ['-c', `. ${folder.path}/env; echo "$GATEWAY_URL"`]);
    expect(`export GATEWAY_URL=${stdout.trim()} `).toBe(line?.slice(0, stdout.length + 19));
    const already = `The local system is running already, with its data in ${folder.path}.`;
    expect(await outputOf()).toEqual({
      code: 1,
      signal: null,
      lines: expect.arrayContaining([...status, line, already]),
    });
  });

  // A part that died took all others with it, and the console that would have shown why.
  it.each(['restate', 'agents', 'gateway'])('starts %s again when it dies', async (part) => {
    const { process: main, said, partPid } = system;
    const before = PARTS.map(partPid);
    const again = main.waitForLine((line) => line.includes(`${part} is ready`));

    process.kill(partPid(part), 'SIGKILL');

    await again;
    expect(said).toContainEqual(
      expect.stringMatching(`^local +\\| ${part} ended by SIGKILL: starting it again$`),
    );
    await askAda(system);
    expect(before.map(isAlive)).toEqual(PARTS.map((other) => other !== part));
  });

  it('ends with every part after a Ctrl-C, and says that nothing runs', async () => {
    const { process: main, partPid } = system;
    process.kill(main.pid, 'SIGINT');

    expect(await main.exited).toEqual({ code: 0, signal: null });
    expect(PARTS.map(partPid).filter(isAlive)).toEqual([]);
    expect(await outputOf('--env')).toEqual({
      code: 1,
      signal: null,
      lines: ['', `No local system runs with its data in ${folder.path}.`],
    });
  });
});

/** Each starts the whole system, which is slow on a busy machine. */
const THREE_STARTS_TIMEOUT_MS = 120_000;

describe('npm run local', () => {
  let dataDir: string;

  beforeEach(async () => {
    dataDir = forThisTest(await newFolder()).path;
  });

  async function start(...args: string[]): Promise<LocalSystem> {
    return forThisTest(await startLocalSystem(dataDir, ...args));
  }

  it(
    'keeps agents, timelines, ports and the key from one start to the next, and --fresh drops agents and timelines',
    async () => {
      const first = await start();
      const written = timelineWritten(first);
      await paste(first.commands[0] ?? '');
      await written;
      await entityInCatalog(first);
      const timeline = await (await first.get(`${ADA_TIMELINE}?offset=-1`)).text();
      await first.process.stop();

      const second = await start();
      expect(second.apiKey).toBe(first.apiKey);
      expect(second.baseUrl).toBe(first.baseUrl);
      expect(second.said.filter((line) => line.includes('is taken'))).toEqual([]);
      expect(await (await second.get(`${ADA_TIMELINE}?offset=-1`)).text()).toBe(timeline);
      expect(await catalogUrls(second)).toEqual(['/t/default/a/assistant/ada']);
      await second.process.stop();

      const third = await start('--fresh');
      expect(third.said).toContainEqual(
        expect.stringMatching(
          'dropped all agents .*, the registered deployments .*, the timelines',
        ),
      );
      expect(third.apiKey).toBe(first.apiKey);
      expect((await third.get(`${ADA_TIMELINE}?offset=-1`)).status).toBe(404);
      expect(await catalogUrls(third)).toEqual([]);
    },
    THREE_STARTS_TIMEOUT_MS,
  );

  it('says which port is taken and takes another', async () => {
    const first = await start();
    const agentsPort = Number(/agents listening on \S+:(\d+)/.exec(first.said.join('\n'))?.[1]);
    await first.process.stop();
    forThisTest(await listening(createServer(), agentsPort));
    const second = (await start()).said.join('\n');
    const moved = /port (\d+) \(agents\) is taken: using (\d+)/.exec(second);
    expect(moved?.[1]).toBe(String(agentsPort));
    expect(second).toContain(`agents listening on http://127.0.0.1:${moved?.[2]}`);
  });

  it('ends with exit code 1 and the reason when a part dies three times in a minute', async () => {
    const { process: main, said, partPid } = await start();
    let pid = partPid('catalog');
    for (let times = 0; times < 2; times++) {
      const again = main.waitForLine((line) => line.includes('catalog is ready'));
      process.kill(pid, 'SIGKILL');
      pid = Number(/pid (\d+)/.exec(await again)?.[1]);
    }
    process.kill(pid, 'SIGKILL');

    expect(await main.exited).toEqual({ code: 1, signal: null });
    expect(said.join('\n')).toMatch(
      /^catalog ended 3 times in a minute\. catalog ended by SIGKILL\. Its last lines:$/m,
    );
    expect(PARTS.map(partPid).filter(isAlive)).toEqual([]);
  });

  it('says what to do about a data folder whose path is too long for a Unix socket', async () => {
    const main = runMain(join(dataDir, 'x'.repeat(100)), []);
    expect(await main.exited).toEqual({ code: 1, signal: null });
    expect(main.lastLines().at(-1)).toMatch(
      /^The path of the data folder is \d+ bytes too long for Restate's Unix sockets\. Name a shorter one with --data DIR\.$/,
    );
  });

  it('takes its parts along when it is killed itself', async () => {
    const { process: main, baseUrl } = await start();
    const gateway = connect(Number(new URL(baseUrl).port), '127.0.0.1');
    await once(gateway, 'connect');
    const cut = new Promise((resolve) => gateway.on('error', () => {}).on('close', resolve));

    await main.kill();

    await cut;
    await expect(fetch(`${baseUrl}/health`)).rejects.toThrow('fetch failed');
  });
});

/** Sends a message by the printed line, and waits until the agent has replied. */
async function askAda({ commands: [, send = ''], get }: LocalSystem): Promise<void> {
  const events = await get(`${ADA_TIMELINE}?offset=now&live=sse`);
  await paste(send);
  await untilTextComes(events, '"kind":"reply"');
}

/** The output of a printed line that a user pastes into a shell. */
async function paste(command: string): Promise<unknown> {
  const { stdout } = await run('/bin/sh', ['-c', command]);
  return JSON.parse(stdout);
}

/** The next append in the gateway's log. The timeline does not exist before the first append. */
async function timelineWritten({ process: main }: LocalSystem): Promise<void> {
  await main.waitForLine((line) => line.includes(`POST ${ADA_TIMELINE} 200`));
}

/** Follows the catalog until it shows an entity. */
async function entityInCatalog({ get }: LocalSystem): Promise<void> {
  for (let query = 'offset=-1'; ;) {
    const { headers, rows } = await readCatalog(get, query);
    if (rows.length > 0) return;
    const [offset, handle] = [headers.get('electric-offset'), headers.get('electric-handle')];
    query = `offset=${offset}&handle=${handle}&live=true`;
  }
}

async function catalogUrls({ get }: LocalSystem): Promise<string[]> {
  return (await readCatalog(get, 'offset=-1')).rows;
}

async function readCatalog(
  get: LocalSystem['get'],
  query: string,
): Promise<{ headers: Headers; rows: string[] }> {
  const response = await get(`/shapes/v1/shape?table=entities&${query}`);
  const messages = (await response.json()) as { value?: { url: string } }[];
  const rows = messages.flatMap(({ value }) => (value ? [value.url] : []));
  return { headers: response.headers, rows };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

interface Refusal {
  status: string;
  text: string;
}

async function askHttp1(
  port: number,
  method: string,
  path: string,
  body: string,
): Promise<Refusal> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(method !== 'GET' && { body }),
  });
  const text = `${JSON.stringify([...response.headers])}${await response.text()}`;
  return { status: String(response.status), text };
}

async function askHttp2(
  port: number,
  method: string,
  path: string,
  body: string,
): Promise<Refusal> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  try {
    const type = 'application/vnd.restate.invocation.v5';
    const head = { ':method': method, ':path': path, 'content-type': type };
    const asked = session.request(head, { endStream: false });
    asked.setEncoding('utf8').end(method === 'GET' ? '' : body);
    const [headers] = (await once(asked, 'response')) as [Record<string, string | number>];
    let text = JSON.stringify(headers);
    for await (const chunk of asked as AsyncIterable<string>) text += chunk;
    return { status: String(headers[':status']), text };
  } finally {
    session.destroy();
  }
}

/** Everything that comes back before the connection ends, or before it has been silent after an answer. */
async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.end(text);
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk));
  // A reset ends it too.
  await new Promise((resolve) => socket.once('close', resolve));
  return answer;
}
