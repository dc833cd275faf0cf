import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import { assertFits, openConsole, say, type ConsoleWorld } from './console-page.ts';
import { withOwnKeyConsole } from './own-key-console.ts';

/** Checks the console that a user starts for a gateway, with a key typed into a terminal. */
export async function checkOwnKey(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  await world.gateway.agents.spawn({ type: 'assistant', id: 'typed' });
  await withOwnKeyConsole(world.local, async (url) => {
    const { page, gatewayRequests, errors, close } = await openConsole(
      browser,
      { ...world, url },
      '#/assistant/typed',
    );
    await checks.check('with a key of yours: an agent, a message to it and its reply', async () => {
      await page.getByTestId('connection').getByText('Live').waitFor();
      const { host } = new URL(world.local.baseUrl);
      await page.getByTestId('connection').getByText(host).waitFor();
      await page.getByTestId('catalog-rows').getByText('typed', { exact: true }).waitFor();
      await say(page, 'count to 3');
      await page.getByTestId('reply-text').getByText('1 2 3', { exact: true }).waitFor();
    });
    await checks.check('and its invocations and deployments', async () => {
      await page.getByTestId('show-invocations').click();
      await page.getByText('Every invocation of this agent has ended').waitFor();
      await page.getByTestId('deployments-link').click();
      await page.locator('[data-testid="deployment"][data-state="well"]').first().waitFor();
      await assertFits(page);
    });
    await checks.check('the page has sent nothing to the gateway, and said no error', () => {
      assert.deepEqual(
        gatewayRequests.map((request) => request.url()),
        [],
      );
      assert.deepEqual(errors, []);
    });
    await close();
  });
}
