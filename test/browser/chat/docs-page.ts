import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { choosePorts } from '../../../local/stack/ports.ts';
import { startProcess, untilReady } from '../../../local/stack/process.ts';
import { parsePage } from '../../docs/markdown.ts';
import { readProjectFile, ROOT } from '../../docs/pages.ts';
import type { Checks } from '../../support/checks.ts';
import { untilAccepting } from '../../support/until-accepting.ts';
import { bundlePage } from '../react/bundle.ts';
import { startPage } from '../react/page-files.ts';
import { WAIT_MS } from '../waits.ts';
import type { ChatWorld } from './chat-world.ts';

const FOLDER = join(ROOT, '.local/docs-chat');

/** What mounts the programs of the page. */
const ENTRY = `
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ask } from './ask.ts';
import { Chat } from './chat.tsx';

Object.assign(globalThis, { ask });
const [, user] = /user=([a-z]+)/.exec(document.cookie) ?? [];
const root = createRoot(document.getElementById('root')!);
root.render(<StrictMode><Chat agent={\`assistant/\${user}\`} /></StrictMode>);
`;

/** The programs of docs/chat.md as they are written, but for the address of the gateway, with a real agent. */
export async function checkDocsPage(
  checks: Checks,
  browser: Browser,
  world: ChatWorld,
): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  for (const { name = '', text } of parsePage('', readProjectFile('docs/chat.md')).blocks) {
    if (!/\.tsx?$/.test(name)) continue;
    writeFileSync(join(FOLDER, name), text.replace('https://gateway.example', world.front.url));
  }
  writeFileSync(join(FOLDER, 'main.tsx'), ENTRY);
  const react = join(ROOT, 'packages/react/src/index.ts');
  const files = await bundlePage(join(FOLDER, 'main.tsx'), [
    { find: '@agent-gateway/react', replacement: react },
  ]);
  for (const [program, user] of [
    ['node-server.ts', 'nora'],
    ['express-server.ts', 'eve'],
  ] as const) {
    await checks.check(`chat.tsx answers, continues after a reload and stops, on ${program}`, () =>
      onServer(program, world, (behind) =>
        withFront(behind, files, async (origin) => {
          const context = await browser.newContext();
          context.setDefaultTimeout(WAIT_MS);
          await context.addCookies([{ name: 'user', value: user, url: origin }]);
          await useChat(await context.newPage(), origin, user);
          await context.close();
        }),
      ),
    );
  }
}

async function onServer(
  program: string,
  { exported, front }: ChatWorld,
  use: (origin: string) => Promise<void>,
): Promise<void> {
  const { port } = await choosePorts({ port: 0 });
  const server = startProcess({
    name: program,
    command: process.execPath,
    args: [join(FOLDER, program)],
    env: {
      PATH: process.env.PATH,
      GATEWAY_URL: front.url,
      GATEWAY_API_KEY: exported.GATEWAY_API_KEY,
      READ_TOKEN_SECRET: exported.GATEWAY_READ_TOKEN_SECRETS,
      PORT: String(port),
    },
  });
  const origin = `http://127.0.0.1:${port}`;
  try {
    await untilReady(server, WAIT_MS, () => untilAccepting(port));
    await use(origin);
  } finally {
    await server.kill();
  }
}

/** In front of the server, as a reverse proxy is: it has the files of the page, and passes all else on. */
async function withFront(
  behind: string,
  files: ReadonlyMap<string, string>,
  use: (origin: string) => Promise<void>,
): Promise<void> {
  const front = await startPage(files, (incoming, outgoing) => {
    const { url: path = '/', method, headers } = incoming;
    const passed = request(behind + path, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  try {
    await use(front.url);
  } finally {
    await front.stop();
  }
}

async function useChat(page: Page, origin: string, user: string): Promise<void> {
  await page.goto(origin);
  await page.fill('input[name=text]', 'count to 1000');
  await page.click('text=Send');
  const answer = page.locator('article').first().locator('p').nth(1);
  await answer.filter({ hasText: /^1 2 3 4 5 6 / }).waitFor();
  await page.reload();
  await answer.filter({ hasText: /^1 2 3 4 5 6 / }).waitFor();
  await page.click('text=Stop');
  await page.getByText('Send', { exact: true }).waitFor();
  const said = (await answer.innerText()).split(' ').map(Number);
  assert.deepEqual(
    said,
    said.map((_, index) => index + 1),
  );
  assert.ok(said.length < 1_000, 'it was not stopped');
  const asked = page.evaluate(async (agent) => {
    const { ask } = globalThis as unknown as {
      ask: (agent: string, text: string, show: (text: string) => void) => Promise<string>;
    };
    const words: string[] = [];
    return [await ask(agent, 'count to 3', (text) => words.push(text)), words.join('')];
  }, `assistant/${user}`);
  assert.deepEqual(await asked, ['1 2 3', '1 2 3']);
  await page.locator('article').nth(1).getByText('1 2 3', { exact: true }).waitFor();
  assert.equal(await page.locator('[role=alert]').count(), 0);
}
