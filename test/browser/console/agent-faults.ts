import assert from 'node:assert/strict';
import { object } from '@restatedev/restate-sdk';
import type { Browser } from 'playwright-core';
import type { Invocation } from '../../../packages/client/src/index.ts';
import type { Checks } from '../../support/checks.ts';
import { runCli } from '../../support/cli.ts';
import type { LocalSystem } from '../../support/local-system.ts';
import { serveAgents } from '../../support/restate.ts';
import { until } from '../../support/until.ts';
import { openConsole, say, untilNotice, type ConsoleWorld } from './console-page.ts';

/** Before, an agent that had thrown 92 times was green, and a message to a dead agent was never seen again. */
export async function checkAgentFaults(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  await checkThrowing(checks, browser, world);
  await checkTokenFault(checks, browser, world);
}

async function checkThrowing(checks: Checks, browser: Browser, world: ConsoleWorld): Promise<void> {
  const { local, gateway, url } = world;
  const agents = await serveAgents([
    object({
      name: 'boom',
      handlers: {
        wake: async () => {
          await Promise.resolve();
          throw new Error('the model is out of order');
        },
        control: () => Promise.resolve(),
      },
    }),
  ]);
  await gateway.deployments.register(agents.uri);
  const { page, close } = await openConsole(browser, world, '#/boom/b1');
  const row = page.getByTestId('catalog-row').filter({ hasText: 'b1' });
  const state = page.getByTestId('sent-state');

  await checks.check(
    'an agent throws: list and page name the error, and the message waits',
    async () => {
      // The agent is unknown until the runtime has work for it.
      await gateway.agents.send('boom/b1', { kind: 'message', content: [] });
      await row.getByText('the model is out of order').waitFor();
      await page.getByTestId('agent-status').getByText('failing').waitFor();
      const reason = page.getByTestId('failure-reason');
      await reason.getByText('the model is out of order').waitFor();
      assert.match(await reason.innerText(), /\n\s+at /);
      await page
        .getByTestId('failure-facts')
        .getByText(/attempt \d+/)
        .waitFor();
      await say(page, 'second');
      await state
        .getByText(/^Accepted by Restate, not taken by the agent yet \(pending\)/)
        .waitFor();
      await assertDoctorSays(
        local,
        /^✗ agents {4}boom\/b1 fails since .* tries: .*the model is out of order/m,
      );
      await page.reload();
      await page.getByTestId('sent-message').getByText('second').waitFor();
    },
  );

  await checks.check('an interrupt waits behind the handler, and the page says so', async () => {
    await page.getByTestId('failure-advice').getByText('an interrupt waits behind it').waitFor();
    await gateway.agents.control('boom/b1', 'interrupt');
    let control: Invocation | undefined;
    // Restate takes a command before its list of invocations has it.
    await until('the interrupt is among the invocations', async () => {
      const open = await gateway.invocations.list({ agent: 'boom/b1' });
      control = open.find(({ target }) => target === 'boom/b1/control');
      return control;
    });
    assert.equal(control!.status, 'pending');
    await gateway.invocations.cancel(control!.id);
  });

  await checks.check('its process is killed: the cause changes, and nothing is lost', async () => {
    await agents.close();
    await row.getByText(/Connection refused|connection/).waitFor();
    await page
      .getByTestId('failure-reason')
      .getByText(/Connection refused/)
      .waitFor();
    await page.getByTestId('sent-message').getByText('second').waitFor();
  });

  await checks.check('its deployment is unreachable: its page says so', async () => {
    await page.getByTestId('deployments-link').click();
    const deployment = page.getByTestId('deployment').filter({ hasText: new URL(agents.uri).port });
    await deployment.getByText(/Restate does not reach it: .*Connection refused/).waitFor();
    const invocations = page.getByTestId('deployments').getByTestId('invocation');
    await invocations.first().getByText('boom/b1/wake').waitFor();
    await assertDoctorSays(local, /^✗ deployed {2}Restate does not reach \S+ \(boom\): .*refused/m);
  });

  await checks.check('a cancel that nobody notices offers to kill, which ends it', async () => {
    await page.goto(`${url}/#/boom/b1`);
    await page.getByTestId('show-invocations').click();
    const first = page.getByTestId('agent-invocations').getByTestId('invocation').first();
    await untilNotice(page, 'Restate has been told to end boom/b1/wake.', () =>
      first.getByRole('button', { name: 'Cancel' }).click(),
    );
    await first.getByText('It has not noticed the cancel').waitFor();
    await untilNotice(page, /Cancelled: boom\/b1\/wake has ended after \d+ attempts\./, () =>
      first.getByRole('button', { name: 'Kill' }).click(),
    );
  });
  for (const { id } of await gateway.invocations.list({ agent: 'boom/b1' })) {
    await gateway.invocations.kill(id);
  }
  const registered = await gateway.deployments.list();
  for (const { id, uri } of registered) {
    if (uri?.startsWith(agents.uri)) await gateway.deployments.remove(id, { force: true });
  }
  await close();
}

/** The rest of the console works: only its answer to a page that needs a token is an error. */
async function checkTokenFault(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  await world.gateway.agents.spawn({ type: 'echo', id: 'drill' });
  await checks.check(
    'the token service fails: the page says so, and a message arrives',
    async () => {
      const { page, close } = await openConsole(browser, world, '#/echo/drill');
      await page.getByTestId('connection').getByText('Live').waitFor();
      const error = { status: 500, code: 'internal_error', detail: 'The token service is down.' };
      await page.route(/\/token$/, (route) =>
        route.fulfill({
          status: 500,
          contentType: 'application/problem+json',
          body: JSON.stringify(error),
        }),
      );
      const said = /No read token: The token service is down\./;
      await page.getByTestId('banner').getByText(said).waitFor();
      await say(page, 'without a token');
      await page.unroute(/\/token$/);
      await page.getByTestId('banner').waitFor({ state: 'hidden' });
      await page.getByTestId('message').getByText('without a token', { exact: true }).waitFor();
      assert.equal(await page.getByTestId('sent-message').count(), 0);
      await close();
    },
  );
}

async function assertDoctorSays({ baseUrl, apiKey }: LocalSystem, said: RegExp): Promise<void> {
  const env = { AGENT_GATEWAY_URL: baseUrl, AGENT_GATEWAY_KEY: apiKey };
  assert.match((await runCli(['doctor'], { env })).out, said);
}
