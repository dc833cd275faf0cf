import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { build } from 'vite';
import { startProcess, untilReady } from '../../../local/stack/process.ts';
import { AgentGateway } from '../../../packages/client/src/index.ts';
import { startCuttingProxy, type CuttingProxy } from '../../support/cutting-proxy.ts';
import { startSlowSystem } from '../../support/local-system.ts';
import { withParts } from '../../support/parts.ts';
import { openTab } from '../console/console-page.ts';
import { WAIT_MS, WORD_DELAY_MS } from '../waits.ts';

const ROOT = join(import.meta.dirname, '../../..');
/**
 * So short that an answer outlives several tokens. A token expires at a whole second and is renewed at half its life, so a
 * request has a second to arrive with it.
 */
export const TOKEN_TTL_SECONDS = 4;

/** `npm run test:python` has the chat with the back end in Python, from the folder of its programs. */
const { PYTHON_BIN } = process.env;
const CHAT_SERVER = PYTHON_BIN === undefined ? 'chat/server.ts' : 'chat/server.py';

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

export function withChat(work: (world: ChatWorld) => Promise<void>): Promise<void> {
  return withParts(async (keep) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'gateway-chat-'));
    await keep({ stop: () => rm(dataDir, { recursive: true }) });
    const local = await keep(startSlowSystem(dataDir, WORD_DELAY_MS));
    const { exported } = local;
    await keep(
      runExample('llm-agent/agent.ts', { ...exported, PORT: '0' }, /^writer is registered/),
    );
    const front = await keep(startCuttingProxy(local.baseUrl));
    await build({ root: join(ROOT, 'examples/chat'), logLevel: 'error' });
    const settings = {
      ...exported,
      AGENT: 'writer',
      GATEWAY_URL: front.url,
      PORT: '0',
      TOKEN_TTL_SECONDS: String(TOKEN_TTL_SECONDS),
    };
    const { line } = await keep(runExample(CHAT_SERVER, settings, /^The chat is at/));
    const url = line.replace('The chat is at ', '');
    const gateway = new AgentGateway({ url: local.baseUrl, apiKey: local.apiKey });
    await work({ gateway, front, url, exported });
  });
}

/** Runs an example until it says that it is ready, in this line. */
async function runExample(file: string, env: NodeJS.ProcessEnv, ready: RegExp) {
  const running = startProcess({
    name: file,
    command: file.endsWith('.py') ? join(PYTHON_BIN ?? '', 'python') : process.execPath,
    args: [join(ROOT, 'examples', file)],
    env: { PATH: process.env.PATH, ...env },
  });
  const line = await untilReady(running, WAIT_MS, () =>
    running.waitForLine((said) => ready.test(said)),
  );
  return { line, stop: () => running.kill() };
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
