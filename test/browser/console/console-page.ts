import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { AgentGateway } from '../../../packages/client/src/index.ts';
import { startSlowSystem, type LocalSystem } from '../../support/local-system.ts';
import { withParts } from '../../support/parts.ts';
import { WAIT_MS, WORD_DELAY_MS } from '../waits.ts';

export const LAPTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

/** The console of a local system, and its gateway with the developer's API key. */
export interface ConsoleWorld {
  local: LocalSystem;
  url: string;
  gateway: AgentGateway;
  /** Where the system has its data. */
  dataDir: string;
}

/** A page of the console, with the requests that it sent to the gateway and its errors. */
export interface ConsolePage {
  page: Page;
  gatewayRequests: Request[];
  errors: string[];
  close: () => Promise<void>;
}

export function withConsole(work: (world: ConsoleWorld) => Promise<void>): Promise<void> {
  return withParts(async (keep) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'gateway-console-'));
    await keep({ stop: () => rm(dataDir, { recursive: true }) });
    const local = await keep(startSlowSystem(dataDir, WORD_DELAY_MS));
    const gateway = new AgentGateway({ url: local.baseUrl, apiKey: local.apiKey });
    await work({ local, url: local.printed(/^The console.*: (http\S+)$/), gateway, dataDir });
  });
}

export async function openConsole(
  browser: Browser,
  { url, local }: ConsoleWorld,
  hash = '',
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  return openConsoleAt(browser, url, hash, options, isAtGateway(local));
}

export async function openConsoleAt(
  browser: Browser,
  url: string,
  hash: string,
  options: BrowserContextOptions = {},
  isOfGateway: (url: URL) => boolean = () => false,
): Promise<ConsolePage> {
  const { page, ...tab } = await openTab(browser, options);
  const gatewayRequests: Request[] = [];
  page.on('request', (request) => {
    if (isOfGateway(new URL(request.url()))) gatewayRequests.push(request);
  });
  await page.goto(`${url}/${hash}`);
  return { page, gatewayRequests, ...tab };
}

/** An empty tab in a window of its own, with the errors that its pages will say. */
export async function openTab(browser: Browser, options: BrowserContextOptions) {
  const context = await browser.newContext({ viewport: LAPTOP, colorScheme: 'light', ...options });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    // A timeline that is not there yet is a 404, and the browser itself says so.
    const isOwn = !/Failed to load resource/.test(message.text());
    if (message.type() === 'error' && isOwn) errors.push(message.text());
  });
  return { page, errors, close: () => context.close() };
}

/** Whether a URL is the gateway's, by its own name or by that of one page. */
export function isAtGateway({ baseUrl }: LocalSystem): (url: URL) => boolean {
  const { hostname, port } = new URL(baseUrl);
  return (url) =>
    url.port === port && (url.hostname === hostname || url.hostname.endsWith('.localhost'));
}

/** Sends a message with the page's own form. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByTestId('send-text').fill(text);
  await page.getByTestId('send-submit').click();
}

/** Does this, and waits until the page says so at its bottom. It says it for four seconds only, so the wait begins before. */
export async function untilNotice(
  page: Page,
  said: string | RegExp,
  act: () => Promise<void>,
): Promise<void> {
  await Promise.all([page.getByTestId('notice').getByText(said).waitFor(), act()]);
}

/** Checks that no element is wider than the screen. */
export async function assertFits(page: Page): Promise<void> {
  const { width, screen } = await page.evaluate(() => ({
    width: document.documentElement.scrollWidth,
    screen: innerWidth,
  }));
  assert.ok(width <= screen, `the page is ${width} px wide`);
}
