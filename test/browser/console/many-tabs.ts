import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import { WAIT_MS } from '../waits.ts';
import { LAPTOP, type ConsoleWorld } from './console-page.ts';
import { withOwnKeyConsole } from './own-key-console.ts';

/** Over HTTP/1.1 a browser has six connections per host name, and each tab holds two or three. */
const TABS = 8;

/** A seventh tab stayed blank, and six made each other's commands wait. */
export async function checkManyTabs(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  const { gateway, local, url } = world;
  const ids = Array.from({ length: TABS }, (_, index) => `tab-${index + 1}`);
  for (const id of ids) await gateway.agents.spawn({ type: 'echo', id });
  await checks.check(`${TABS} tabs of one browser are all live`, () =>
    allLive(browser, world, url, ids),
  );
  await checks.check('so they are for a gateway of yours, with a key that was typed', () =>
    withOwnKeyConsole(local, (ownKeyUrl) => allLive(browser, world, ownKeyUrl, ids)),
  );
  await checks.check('a browser that does not know the names reads under the shared one', () =>
    withoutNames(browser, url),
  );
}

async function allLive(
  browser: Browser,
  { gateway }: ConsoleWorld,
  url: string,
  ids: string[],
): Promise<void> {
  // Pages of one context share their connections, as tabs of one window do.
  await inContext(browser, async (context) => {
    const pages: Page[] = [];
    for (const id of ids) {
      const page = await context.newPage();
      await page.goto(`${url}/#/echo/${id}`);
      await page.getByTestId('connection').getByText('Live').waitFor();
      pages.push(page);
    }
    const text = `hello at ${url}`;
    await Promise.all(ids.map((id) => gateway.agents.send(`echo/${id}`, message(text))));
    await Promise.all(
      pages.map(async (page) => {
        await page.getByTestId('message').getByText(text).waitFor();
        await page.getByTestId('connection').getByText('Live').waitFor();
        // The list is live, too.
        await page.getByTestId('catalog-row').first().waitFor();
      }),
    );
  });
}

async function withoutNames(browser: Browser, url: string): Promise<void> {
  await inContext(browser, async (context) => {
    await context.route(
      ({ hostname }) => hostname.endsWith('.localhost'),
      (route) => route.abort('namenotresolved'),
    );
    const page = await context.newPage();
    await page.goto(`${url}/#/echo/tab-1`);
    await page.getByTestId('connection').getByText('Live').waitFor();
    await page.locator('[data-what="spawned"]').waitFor();
  });
}

async function inContext(
  browser: Browser,
  work: (context: BrowserContext) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ viewport: LAPTOP });
  context.setDefaultTimeout(WAIT_MS);
  try {
    await work(context);
  } finally {
    await context.close();
  }
}

function message(text: string): object {
  return { kind: 'message', content: [{ type: 'text', text }] };
}
