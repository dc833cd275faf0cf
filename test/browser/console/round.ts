import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import {
  assertFits,
  openConsole,
  PHONE,
  say,
  untilNotice,
  type ConsolePage,
  type ConsoleWorld,
} from './console-page.ts';
import { screenshot } from './screenshot.ts';

/** Walks through the console as a new user would, and takes the screenshots of the docs. */
export async function checkRound(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  const open = await openConsole(browser, world);
  const { page } = open;
  await checks.check('spawns agents, and the catalog shows them by itself', async () => {
    for (const id of ['grace', 'ada']) {
      await page.getByTestId('new-agent').click();
      await page.getByTestId('spawn-id').fill(id);
      await page.getByTestId('spawn-submit').click();
      await page.getByTestId('agent-title').getByText(id).waitFor();
      // The button kept the focus, so that Enter spawned a second one.
      await page.locator('#send-text:focus').waitFor();
      await page.getByTestId('catalog-rows').getByText(id, { exact: true }).waitFor();
    }
  });
  await checks.check('shows the words of a reply as they come, then the whole', () => reply(page));
  await checks.check('interrupts a reply, which stops', async () => {
    await say(page, 'Please count to 1000');
    await page.locator('[data-testid="reply"][data-state="writing"]').waitFor();
    await screenshot(page, 'console-laptop');
    await untilNotice(page, 'Interrupted the answer to “Please count', () =>
      page.getByTestId('control-interrupt').click(),
    );
    await page.locator('[data-testid="reply"][data-state="stopped"]').waitFor();
    await page.getByTestId('agent-status').getByText('idle').waitFor();
  });
  await checks.check('shows every event as it is, to be copied', () => events(page));
  await checks.check('a reload shows the same conversation', () => reload(page));
  await checks.check('on a phone nothing is wider than the screen', async () => {
    await page.setViewportSize(PHONE);
    await page.locator('[data-testid="reply"]').last().waitFor();
    await assertFits(page);
    await screenshot(page, 'console-phone');
  });
  await checks.check('the page has read with tokens only, and said no error', () => honest(open));
  await open.close();
}

async function reply(page: Page): Promise<void> {
  await say(page, 'Hello, **who** are you?');
  const answer = page.locator('[data-testid="reply"][data-state="done"]').first();
  await answer.waitFor();
  assert.match(await answer.getByTestId('reply-text').innerText(), /^Hello! I answer/);
  // Markdown of the message became an element, never markup.
  assert.equal(await page.getByTestId('message').first().locator('strong').innerText(), 'who');
}

async function events(page: Page): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByTestId('show-events').click();
  const last = page.locator('[data-testid="event"][data-kind="reply"]').last();
  await last.waitFor();
  await last.locator('.line').click();
  // The button says so for a second and a half only.
  await Promise.all([last.getByText('Copied').waitFor(), last.getByText('Copy event').click()]);
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  const { kind, stopped } = JSON.parse(copied) as { kind: string; stopped?: { verb: string } };
  assert.deepEqual([kind, stopped?.verb], ['reply', 'interrupt']);
  await page.locator('#timeline-scroll').evaluate((scroller) => scroller.scrollTo(0, 0));
  const message = page.locator('[data-testid="event"][data-kind="message"]').first();
  await message.waitFor();
  await message.locator('.line').click();
  const request = message.getByText('Copy request');
  assert.match((await request.getAttribute('title')) ?? '', /^Copy [\w-]{20,}$/);
  await filterAndJump(page);
  await page.getByTestId('show-conversation').click();
}

/** One line an event, by kind and by number. */
async function filterAndJump(page: Page): Promise<void> {
  await page.getByTestId('event-kind').selectOption('reply');
  await page
    .locator('[data-testid="event"][data-kind="message"]')
    .first()
    .waitFor({ state: 'detached' });
  assert.equal(await page.locator('[data-testid="event"]:not([data-kind="reply"])').count(), 0);
  await page.getByTestId('event-kind').selectOption('');
  await page.getByTestId('event-seq').fill('3');
  await page.keyboard.press('Enter');
  const third = page.locator('[data-testid="event"][data-seq="3"]');
  await third.locator('.detail').waitFor();
  assert.equal(
    await third.locator('.line').evaluate((line) => line === document.activeElement),
    true,
  );
  const heights = await page
    .locator('[data-testid="event"] .line')
    .evaluateAll((lines) => lines.map((line) => line.getBoundingClientRect().height));
  assert.ok(Math.max(...heights) < 40, `a line is ${Math.max(...heights)} px high`);
}

async function reload(page: Page): Promise<void> {
  const texts = (): Promise<string[]> => page.getByTestId('reply-text').allInnerTexts();
  const before = await texts();
  await page.reload();
  await page.locator('[data-testid="reply"][data-state="stopped"]').waitFor();
  assert.deepEqual(await texts(), before);
}

async function honest({ gatewayRequests, errors }: ConsolePage): Promise<void> {
  assert.ok(gatewayRequests.length > 0);
  for (const request of gatewayRequests) {
    assert.equal(request.method(), 'GET');
    // The trial of the page's own name needs no credential.
    if (new URL(request.url()).pathname === '/health') continue;
    assert.match(request.headers()['authorization'] ?? '', /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
  }
  assert.deepEqual(errors, []);
}
