import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { build } from 'vite';
import { startProcess, untilReady, type RunningProcess } from '../../../local/stack/process.ts';
import { AgentGateway } from '../../../packages/client/src/index.ts';
import { startCuttingProxy, type CuttingProxy } from '../../support/cutting-proxy.ts';
import { startSlowSystem } from '../../support/local-system.ts';
import { openTab } from '../console/console-page.ts';
import { WAIT_MS, WORD_DELAY_MS } from '../waits.ts';

const ROOT = join(import.meta.dirname, '../../..');
/**
 * So short that an answer outlives several tokens. A token expires at a whole second and is renewed at half its life, so a
 * request has a second to arrive with it.
 */
export const TOKEN_TTL_SECONDS = 4;

/** The chat of `examples/chat` with the agent of `examples/llm-agent`, on a local system. */
export interface ChatWorld {
  /** With the developer's API key, at the gateway itself. */
  gateway: AgentGateway;
  /** The gateway as page and server see it. */
  front: CuttingProxy;
  url: string;
  /** The variables that the local system printed for another terminal. */
  exported: Record<string, string | undefined>;
}

export interface ChatPage {
  page: Page;
  /** Errors of the page, without those that the browser itself reports of requests. */
  errors: string[];
  close: () => Promise<void>;
}

export async function withChat(work: (world: ChatWorld) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-chat-'));
  const stops: (() => Promise<void>)[] = [() => rm(dataDir, { recursive: true })];
  try {
    const local = await startSlowSystem(dataDir, WORD_DELAY_MS);
    stops.push(() => local.stop());
    const { exported } = local;
    stops.push(
      await stopOf(
        runExample('llm-agent/agent.ts', { ...exported, PORT: '0' }),
        /^writer is registered/,
      ),
    );
    const front = await startCuttingProxy(local.baseUrl);
    stops.push(() => front.stop());
    await build({ root: join(ROOT, 'examples/chat'), logLevel: 'error' });
    const server = runExample('chat/server.ts', {
      ...exported,
      AGENT: 'writer',
      GATEWAY_URL: front.url,
      PORT: '0',
      TOKEN_TTL_SECONDS: String(TOKEN_TTL_SECONDS),
    });
    stops.push(await stopOf(server, /^The chat is at/));
    const url =
      server
        .lastLines()
        .join('\n')
        .match(/^The chat is at (\S+)$/m)?.[1] ?? '';
    const gateway = new AgentGateway({ url: local.baseUrl, apiKey: local.apiKey });
    await work({ gateway, front, url, exported });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function runExample(file: string, env: NodeJS.ProcessEnv): RunningProcess {
  return startProcess({
    name: file,
    command: process.execPath,
    args: [join(ROOT, 'examples', file)],
    env: { PATH: process.env.PATH, ...env },
  });
}

/** Resolves when the process is ready, with what ends it. */
async function stopOf(running: RunningProcess, ready: RegExp): Promise<() => Promise<void>> {
  await untilReady(running, WAIT_MS, () => running.waitForLine((line) => ready.test(line)));
  return () => running.kill();
}

/** A browser of its own, in which that user has signed in. An empty name: nobody has. */
export async function openChat(
  browser: Browser,
  { url }: ChatWorld,
  user: string,
  options: BrowserContextOptions = {},
): Promise<ChatPage> {
  const { page, ...tab } = await openTab(browser, options);
  await page.addInitScript(recordAnswers);
  await page.goto(url);
  await page.getByLabel('Your name').waitFor();
  if (user !== '') {
    await page.getByLabel('Your name').fill(user);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'New chat' }).waitFor();
  }
  return { page, ...tab };
}

interface Recorded {
  answers: string[];
}

/** Keeps all texts that the newest answer has had since the page was loaded. Runs in the page. */
function recordAnswers(): void {
  const texts: string[] = [];
  Object.assign(globalThis, { answers: texts });
  new MutationObserver(() => {
    const text = [...document.querySelectorAll('.said')].at(-1)?.textContent ?? '';
    if (text !== '' && text !== texts.at(-1)) texts.push(text);
  }).observe(document, { childList: true, characterData: true, subtree: true });
}

/** All texts that the newest answer has had since the page was loaded. */
export function answersSeen(page: Page): Promise<string[]> {
  return page.evaluate(() => (globalThis as unknown as Recorded).answers);
}

export async function newChat(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'New chat' }).click();
  await page.getByRole('heading', { name, exact: true }).waitFor();
  await page.getByRole('link', { name }).waitFor();
}

/** Waits until the newest answer has had this many texts. */
export async function untilAnswersSeen(page: Page, count: number): Promise<void> {
  await page.waitForFunction(
    (wanted) => (globalThis as unknown as Recorded).answers.length >= wanted,
    count,
  );
}

/** Sends a message with the page's form. The answers that were seen before are forgotten. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Your message').fill(text);
  await page.evaluate(() => void (globalThis as unknown as Recorded).answers.splice(0));
  await page.keyboard.press('Enter');
}
