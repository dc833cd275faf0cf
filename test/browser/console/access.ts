import assert from 'node:assert/strict';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import { sampleOf } from '../../support/share.ts';
import { violations } from '../axe.ts';
import { assertFits, LAPTOP, openConsole, PHONE, type ConsoleWorld } from './console-page.ts';

const VIEWS = ['#/', '#/runs', '#/decisions', '#/assistant/ada', '#/deployments'];
const LOOKS: Record<string, BrowserContextOptions> = {
  'on a laptop': { viewport: LAPTOP },
  'in the dark': { viewport: LAPTOP, colorScheme: 'dark' },
  'on a phone': { viewport: PHONE },
  'on a phone, in the dark': { viewport: PHONE, colorScheme: 'dark' },
};

/** Checks each page in each color scheme with axe, and walks through it by keyboard. */
export async function checkAccess(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  const { agents } = world.gateway;
  await agents.spawn({ type: 'assistant', id: 'ada' });
  await agents.send('assistant/ada', {
    kind: 'message',
    content: [{ type: 'text', text: 'Hi `x`' }],
  });
  for (const [look, options] of sampleOf(Object.entries(LOOKS), 2)) {
    await checks.check(`axe finds nothing ${look}, and all fits`, async () => {
      for (const view of VIEWS) {
        const { page, close } = await openConsole(browser, world, view, {
          ...options,
          // axe itself is put into the page.
          bypassCSP: true,
        });
        await page.getByTestId('connection').getByText('Live').waitFor();
        // What is still being written would change under axe.
        if (view.includes('ada')) await untilAnswered(page);
        if (view === '#/runs') await openARun(page);
        if (view === '#/decisions') await page.getByTestId('decisions-empty').waitFor();
        if (view === '#/') await inDialog(page);
        if (view === '#/deployments') await page.getByTestId('deployment').first().waitFor();
        assert.deepEqual([view, await violations(page)], [view, []]);
        if (view.includes('ada')) {
          await page.getByTestId('show-runs').click();
          await openARun(page);
          assert.deepEqual(['runs', await violations(page)], ['runs', []]);
          await showAnEvent(page);
          assert.deepEqual(['events', await violations(page)], ['events', []]);
        }
        await assertFits(page);
        await close();
      }
    });
  }
  await checks.check('by keyboard alone: to an agent, a message to it, and its reply', async () => {
    const { page, close } = await openConsole(browser, world);
    await page.getByTestId('catalog-row').first().waitFor();
    await tabTo(page, '', 'open');
    // The list is one stop of Tab. It was one for each row.
    await page.keyboard.press('Tab');
    assert.equal(await focusedTestId(page), undefined);
    await page.keyboard.press('Shift+Tab');
    for (let presses = 0; presses < 30 && (await focusedText(page)) !== 'ada'; presses++) {
      await page.keyboard.press('ArrowDown');
    }
    await page.keyboard.press('Enter');
    await page.getByTestId('agent-title').getByText('ada').waitFor();
    await tabTo(page, '', 'send-text');
    await page.keyboard.type('count to 2');
    await page.keyboard.press('Enter');
    await page.getByTestId('reply-text').getByText('1 2', { exact: true }).waitFor();
    await page.getByTestId('announcer').getByText('reply: 1 2').waitFor({ state: 'attached' });
    await close();
  });
}

async function untilAnswered(page: Page): Promise<void> {
  const last = page.getByTestId('reply').last();
  await last.and(page.locator('[data-state="done"]')).waitFor();
}

async function openARun(page: Page): Promise<void> {
  await page.locator('.run-line:visible').first().click();
  await page.getByTestId('run-detail').first().waitFor();
}

async function inDialog(page: Page): Promise<void> {
  await page.getByTestId('new-agent').click();
  await page.getByTestId('spawn-dialog').waitFor();
  assert.deepEqual(['spawn', await violations(page)], ['spawn', []]);
  await page.keyboard.press('Escape');
}

async function showAnEvent(page: Page): Promise<void> {
  await page.getByTestId('show-events').click();
  await page.getByTestId('event').first().locator('.line').click();
  await page.locator('.detail').first().waitFor();
}

function focusedText(page: Page): Promise<string | null> {
  return page.evaluate(() => document.activeElement?.textContent ?? null);
}

function focusedTestId(page: Page): Promise<string | undefined> {
  return page.evaluate(() => (document.activeElement as HTMLElement).dataset?.testid);
}

/** Presses Tab until the element with this text or test id has the focus. */
async function tabTo(page: Page, text: string, testId = ''): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab');
    const isThere = await page.evaluate(
      ([wanted, id]) => {
        const { textContent, dataset } = document.activeElement as HTMLElement;
        return id === '' ? textContent === wanted : dataset.testid === id;
      },
      [text, testId] as const,
    );
    if (isThere) return;
  }
  throw new Error(`Tab never came to ${text || testId}.`);
}
