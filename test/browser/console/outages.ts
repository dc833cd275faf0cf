import type { Browser } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import { isAtGateway, openConsole, type ConsoleWorld } from './console-page.ts';

/** Checks what the page says while a part of the system is down, and that it recovers by itself. */
export async function checkOutages(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  const { gateway, local } = world;
  await gateway.agents.spawn({ type: 'echo', id: 'outage' });
  const { page, close } = await openConsole(browser, world, '#/echo/outage');
  const status = page.getByTestId('connection');
  const banner = page.getByTestId('banner');
  await status.getByText('Live').waitFor();

  const outages: [string, string, object, RegExp][] = [
    [
      'the history store',
      '**/streams/**',
      problem(502, 'upstream_unreachable', 'The history store cannot be reached.'),
      /The history store is not well: The history store cannot be reached\./,
    ],
    [
      'the catalog engine',
      '**/shapes/**',
      problem(502, 'upstream_unreachable', 'The sync engine cannot be reached.'),
      /The catalog engine is not well: /,
    ],
    [
      'the token service',
      '**/token',
      problem(500, 'internal_error', 'A fault of the console.'),
      /No read token: A fault of the console/,
    ],
  ];
  for (const [what, pattern, answer, said] of outages) {
    await checks.check(`says that ${what} is not well, and when it tries again`, async () => {
      await page.route(pattern, (route) => route.fulfill(answer));
      await page.reload();
      await banner.getByText(said).waitFor();
      await page
        .getByTestId('connection-retry')
        .getByText(/Next try in \d+ s\.|Trying again…/)
        .waitFor();
      await page.unroute(pattern);
      await status.getByText('Live').waitFor();
      await page.locator('[data-what="spawned"]').waitFor();
    });
  }

  await checks.check('says that the gateway is away, and continues when it is back', async () => {
    const isHere = isAtGateway(local);
    await page.route(isHere, (route) => route.abort('connectionrefused'));
    await page.reload();
    await banner.getByText(/The gateway at http\S+ does not answer\./).waitFor();
    await page.getByTestId('catalog-empty').getByText('cannot be read now').waitFor();
    await page.unroute(isHere);
    await page.locator('[data-what="spawned"]').waitFor();
    await status.getByText('Live').waitFor();
  });
  await close();
}

function problem(status: number, code: string, detail: string): object {
  return {
    status,
    contentType: 'application/problem+json',
    headers: { 'access-control-allow-origin': '*' },
    body: JSON.stringify({ status, code, detail, requestId: 'r1' }),
  };
}
