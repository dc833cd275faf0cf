import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import { openConsole, type ConsoleWorld } from './console-page.ts';

const ROWS = 10_000;
const EVENTS = 5_000;
/** The most rows that the page may hold: those on the screen and some around them. */
const MAX_IN_PAGE = 120;

/** Checks that every row of a long list can be reached, and that the page holds only the visible ones. */
export async function checkScale(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  const { local } = world;
  const headers = { authorization: `Bearer ${local.apiKey}`, 'content-type': 'application/json' };
  const { page, close } = await openConsole(browser, world);
  await checks.check(
    `has ${ROWS} rows of which few are in the page, and the keyboard reaches all`,
    async () => {
      await withRows(page, ROWS);
      await page.reload();
      await page.getByTestId('catalog-count').getByText(String(ROWS), { exact: true }).waitFor();
      // The page draws the rows in the frame after the count.
      await page.getByTestId('catalog-row').first().waitFor();
      const inPage = await page.getByTestId('catalog-row').count();
      assert.ok(inPage > 5 && inPage < MAX_IN_PAGE, `${inPage} rows are in the page`);
      await page.getByTestId('catalog-row').first().locator('.open').focus();
      const first = await focused(page);
      await page.keyboard.press('ArrowDown');
      assert.notEqual(await focused(page), first);
      await page.keyboard.press('End');
      assert.equal(await focused(page), 'row-0');
      await page.getByTestId('filter-text').fill('row-4321');
      await page.getByTestId('catalog-count').getByText(`1 of ${ROWS}`).waitFor();
      await page.getByTestId('catalog-rows').getByText('row-4321', { exact: true }).waitFor();
    },
  );
  await checks.check(
    `has a timeline of ${EVENTS} events of which few are in the page`,
    async () => {
      const path = `${local.baseUrl}/streams/t/default/agents/echo/long/timeline`;
      await fetch(path, { method: 'PUT', headers });
      const at = new Date().toISOString();
      const events = Array.from({ length: EVENTS }, (_, seq) => ({
        seq,
        at,
        kind: 'message',
        content: [{ type: 'text', text: `message ${seq}${'\nmore'.repeat(seq % 5)}` }],
      }));
      await fetch(path, { method: 'POST', headers, body: JSON.stringify(events) });
      await page.goto(`${world.url}/#/echo/long`);
      await page.getByText(`message ${EVENTS - 1}`).waitFor();
      const inPage = await page.getByTestId('message').count();
      assert.ok(inPage > 3 && inPage < MAX_IN_PAGE, `${inPage} messages are in the page`);
      await page.locator('#timeline-scroll').evaluate((scroller) => scroller.scrollTo(0, 0));
      await page.getByText('message 0', { exact: true }).waitFor();
      // What comes now does not take the reader away from where they are.
      const next = {
        seq: EVENTS,
        at,
        kind: 'message',
        content: [{ type: 'text', text: 'the newest' }],
      };
      await fetch(path, { method: 'POST', headers, body: JSON.stringify(next) });
      await page.getByTestId('newest').click();
      await page.getByText('the newest').waitFor();
    },
  );
  await close();
}

function focused(page: Page): Promise<string | null> {
  return page.evaluate(() => document.activeElement?.textContent ?? null);
}

/** Makes the catalog engine return this many rows, because spawning as many agents would take minutes. */
async function withRows(page: Page, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => {
    const id = `row-${index}`;
    const at = new Date(1_700_000_000_000 + index * 1_000).toISOString();
    const value = {
      url: `/t/default/a/echo/${id}`,
      type: 'echo',
      id,
      status: 'idle',
      parent: null,
      tenant: 'default',
      created_at: at,
      updated_at: at,
    };
    return { key: id, value, headers: { operation: 'insert' } };
  });
  const messages = [...rows, { headers: { control: 'up-to-date' } }];
  await page.route('**/shapes/v1/shape?**', async (route) => {
    const isFirst = route.request().url().includes('offset=-1');
    if (!isFirst) return;
    await route.fulfill({
      status: 200,
      contentType: 'application/json',
      headers: {
        'access-control-allow-origin': '*',
        'access-control-expose-headers': '*',
        'electric-handle': 'h1',
        'electric-offset': '0_0',
        'electric-schema': '{}',
        'electric-up-to-date': '',
      },
      body: JSON.stringify(messages),
    });
  });
}
