import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { PageApi, PageRead, Probe, ProbeInit, ReadRequest } from './page-script.ts';
import { WAIT_MS } from './waits.ts';

declare const gatewayTest: PageApi;

/** The test's page in a browser. Its functions run in the page. */
export interface TestPage {
  tab: Page;
  start(name: string, request: ReadRequest): Promise<void>;
  read(name: string): Promise<Omit<PageRead, 'stop'>>;
  /** Waits in the page until the condition holds for the read; `value` is handed to it. */
  until<Value>(
    name: string,
    condition: (read: PageRead, value: Value) => boolean,
    value: Value,
  ): Promise<void>;
  stop(name: string): Promise<void>;
  probe(url: string, init?: ProbeInit): Promise<Probe>;
  close(): Promise<void>;
}

/** Opens the page in a context of its own, or in that which is given. */
export async function openPage(where: Browser | BrowserContext, url: string): Promise<TestPage> {
  const context = 'newContext' in where ? await where.newContext() : where;
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForFunction(() => 'gatewayTest' in globalThis, undefined, { timeout: WAIT_MS });
  return withFunctions(page, () => context.close());
}

function withFunctions(page: Page, close: () => Promise<void>): TestPage {
  return {
    tab: page,
    start: (name, request) =>
      page.evaluate(([n, r]) => gatewayTest.start(n, r), [name, request] as const),
    read: (name) =>
      page.evaluate((n) => {
        const { stop: _, ...read } = gatewayTest.reads[n]!;
        return read;
      }, name),
    until: async (name, condition, value) => {
      // The condition travels as text: a page cannot call back into Node.
      const body = `((${condition.toString()})(gatewayTest.reads[${JSON.stringify(name)}], ${JSON.stringify(value)}))`;
      try {
        await page.waitForFunction(body, undefined, { timeout: WAIT_MS, polling: 20 });
      } catch (cause) {
        const read = await page.evaluate((n) => JSON.stringify(gatewayTest.reads[n]), name);
        throw new Error(`${condition.toString()} did not come true. ${read.slice(0, 2_000)}`, {
          cause,
        });
      }
    },
    stop: (name) => page.evaluate((n) => gatewayTest.reads[n]!.stop(), name),
    probe: (url, init) => page.evaluate(([u, i]) => gatewayTest.probe(u, i), [url, init] as const),
    close,
  };
}
