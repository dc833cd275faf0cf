import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page, Request } from 'playwright-core';
import type { Checks } from '../support/checks.ts';
import { startLocalSystem, type LocalSystem } from '../support/local-system.ts';

const IMAGES = join(import.meta.dirname, '../../docs/images');
const LAPTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const WAIT_MS = 20_000;

/** One round in the console of `npm run local`, and its pictures for the docs. */
export async function checkConsole(checks: Checks, browser: Browser): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-console-'));
  const local = await startLocalSystem(dataDir);
  try {
    const context = await browser.newContext({ viewport: LAPTOP, colorScheme: 'light' });
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    const seen = watch(page, local.baseUrl);
    await page.goto(consoleUrl(local));
    await round(checks, page);
    await checks.check('a reload shows the same timeline, whole', () => reload(page));
    await checks.check('on a phone nothing is wider than the screen', () => onPhone(page));
    await checks.check('the page has read with tokens only, and said no error', async () => {
      assert.ok(seen.gatewayRequests.length > 0);
      for (const request of seen.gatewayRequests) {
        assert.equal(request.method(), 'GET');
        assert.match(request.headers()['authorization'] ?? '', /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
      }
      assert.deepEqual(seen.errors, []);
    });
    await context.close();
  } finally {
    await local.process.stop();
    await rm(dataDir, { recursive: true });
  }
}

function consoleUrl({ said }: LocalSystem): string {
  const url = said.map((line) => /^The console.*: (http\S+)$/.exec(line)?.[1]).find(Boolean);
  if (!url) throw new Error(`No address of the console was printed:\n${said.join('\n')}`);
  return url;
}

function watch(page: Page, gatewayUrl: string) {
  const gatewayRequests: Request[] = [];
  const errors: string[] = [];
  page.on('request', (request) => {
    if (request.url().startsWith(gatewayUrl)) gatewayRequests.push(request);
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    // A timeline that is not there yet is a 404, and the browser itself says so.
    const isOwn = !/Failed to load resource/.test(message.text());
    if (message.type() === 'error' && isOwn) errors.push(message.text());
  });
  return { gatewayRequests, errors };
}

async function round(checks: Checks, page: Page): Promise<void> {
  await checks.check('spawns agents, and the catalog shows them by itself', async () => {
    for (const id of ['grace', 'ada']) {
      await page.getByTestId('spawn-id').fill(id);
      await page.getByTestId('spawn-submit').click();
      await page.getByTestId('agent-title').getByText(id).waitFor();
      await page.getByTestId('catalog-rows').getByText(id, { exact: true }).waitFor();
    }
  });
  await checks.check('sends a message, and its words arrive one by one', async () => {
    await page.getByTestId('send-text').fill('Hello, who are you?');
    await page.getByTestId('send-submit').click();
    await page.locator('[data-kind="reply"]').waitFor();
    await page.getByTestId('send-text').fill('Please count to 1000');
    await page.getByTestId('send-submit').click();
    await page.getByTestId('word').getByText('25', { exact: true }).waitFor();
    await screenshot(page, 'console-laptop');
  });
  await checks.check('interrupts the reply, which stops', async () => {
    await page.getByTestId('control-interrupt').click();
    await page.locator('[data-kind="interrupted"]').waitFor();
    await page.getByTestId('agent-status').getByText('idle').waitFor();
    await assertGapless(page);
    assert.equal(await page.getByTestId('word').getByText('1000', { exact: true }).count(), 0);
  });
}

async function reload(page: Page): Promise<void> {
  const before = await seqs(page);
  await page.reload();
  await page.locator('[data-kind="interrupted"]').waitFor();
  assert.deepEqual(await seqs(page), before);
  await assertGapless(page);
}

async function onPhone(page: Page): Promise<void> {
  await page.setViewportSize(PHONE);
  await page.locator('[data-kind="interrupted"]').scrollIntoViewIfNeeded();
  const widthPx = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(widthPx <= PHONE.width, `the page is ${widthPx} px wide`);
  await screenshot(page, 'console-phone');
}

function seqs(page: Page): Promise<number[]> {
  return page
    .locator('[data-seq]')
    .evaluateAll((elements) => elements.map((element) => Number(element.getAttribute('data-seq'))));
}

async function assertGapless(page: Page): Promise<void> {
  const shown = await seqs(page);
  assert.deepEqual(
    shown,
    shown.map((_, index) => index),
  );
  assert.equal(await page.getByTestId('gap').count(), 0);
  assert.equal(await page.getByTestId('repeat').count(), 0);
}

/** Taken anew only where it is asked for or missing: each run's own times would change the file. */
async function screenshot(page: Page, name: string): Promise<void> {
  const path = join(IMAGES, `${name}.png`);
  if (existsSync(path) && !process.argv.includes('--screenshots')) return;
  await mkdir(IMAGES, { recursive: true });
  await page.screenshot({ path, animations: 'disabled' });
}
