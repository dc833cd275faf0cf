import assert from 'node:assert/strict';
import { object, type ObjectContext } from '@restatedev/restate-sdk';
import type { Browser } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import { serveAgents } from '../../support/restate.ts';
import { openConsole, untilNotice, type ConsoleWorld } from './console-page.ts';

/** Checks the page of deployments: types and handlers, registration, and invocations that hang. */
export async function checkDeployments(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  const { page, close } = await openConsole(browser, world, '#/deployments');
  await checks.check('shows who serves which agents, with their handlers', async () => {
    const text = await page.getByTestId('deployment').first().innerText();
    assert.match(text, /assistant virtual object: spawn, wake, control/);
    await page.locator('[data-testid="deployment"][data-state="well"]').first().waitFor();
    await page.getByTestId('invocations-empty').waitFor();
  });
  await checks.check('registers a deployment, and says why one is not', async () => {
    await page.getByTestId('register-uri').fill('http://127.0.0.1:2');
    await page.getByTestId('register-submit').click();
    await page
      .getByTestId('register-outcome')
      .getByText(/^Not registered: /)
      .waitFor();
    const started = Promise.withResolvers<void>();
    const agents = await serveAgents([
      object({
        name: 'sleeper',
        handlers: {
          spawn: async (ctx: ObjectContext) => {
            started.resolve();
            await ctx.sleep({ hours: 1 });
          },
        },
      }),
    ]);
    await page.getByTestId('register-uri').fill(agents.uri);
    await page.getByTestId('register-submit').click();
    await page.getByTestId('register-outcome').getByText('Registered: sleeper').waitFor();
    await world.gateway.agents.spawn({ type: 'sleeper', id: 's1' });
    await started.promise;
    const hanging = page.getByTestId('invocation');
    await hanging.getByText('sleeper/s1/spawn').waitFor();
    await untilNotice(page, 'Cancelled: sleeper/s1/spawn has ended', () =>
      hanging.getByRole('button', { name: 'Cancel' }).click(),
    );
    await hanging.waitFor({ state: 'detached' });
    await agents.close();
    const gone = page.getByTestId('deployment').filter({ hasText: new URL(agents.uri).port });
    await gone.getByText(/Restate does not reach it: .*Connection refused/).waitFor();
    await gone.getByRole('button', { name: 'Remove' }).click();
    await page.getByText(`Remove ${agents.uri}/?`).waitFor();
    await page.getByTestId('remove-confirm').click();
    await gone.waitFor({ state: 'detached' });
  });
  await checks.check('says that the registry cannot be read, and when it tries again', async () => {
    await page.route('**/registry/**', (route) => route.abort());
    await page
      .getByTestId('deployments-problem')
      .getByText(/cannot be read: The console does not answer\. Next try in 5 s\./)
      .waitFor();
    await page.unroute('**/registry/**');
    await page.getByTestId('deployments-problem').waitFor({ state: 'hidden' });
  });
  await close();
}
