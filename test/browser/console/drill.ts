import assert from 'node:assert/strict';
import { object } from '@restatedev/restate-sdk';
import type { Browser, Page, Route } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import { serveAgents } from '../../support/restate.ts';
import type { LocalSystem } from '../../support/local-system.ts';
import { isAtGateway, openConsole, say, type ConsoleWorld } from './console-page.ts';

/** Whoever opens the console knows by then what is wrong. */
const SOON = { timeout: 10_000 };

/** Before, an agent that had thrown 92 times was green, and a message to a dead agent was never seen again. */
export async function checkDrill(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  await checkAgentFaults(checks, browser, world);
  await checkParts(checks, browser, world);
}

async function checkAgentFaults(
  checks: Checks,
  browser: Browser,
  { local, gateway, url }: ConsoleWorld,
): Promise<void> {
  const agents = await serveAgents([
    object({
      name: 'boom',
      handlers: {
        wake: async () => {
          await Promise.resolve();
          throw new Error('the model is out of order');
        },
      },
    }),
  ]);
  await gateway.deployments.register(agents.uri);
  const { page, close } = await openConsole(browser, { local, gateway, url }, '#/boom/b1');
  const row = page.getByTestId('catalog-row').filter({ hasText: 'b1' });
  const state = page.getByTestId('sent-state');

  await checks.check(
    'an agent throws: list and page name the error, and the message waits',
    async () => {
      // The agent is unknown until the runtime has work for it.
      await gateway.agents.send('boom/b1', { kind: 'message', content: [] });
      await row.getByText('the model is out of order').waitFor(SOON);
      await page.getByTestId('agent-status').getByText('failing').waitFor(SOON);
      const reason = page.getByTestId('failure-reason');
      await reason.getByText('the model is out of order').waitFor(SOON);
      assert.match(await reason.innerText(), /\n\s+at /);
      await page
        .getByTestId('failure-facts')
        .getByText(/attempt \d+/)
        .waitFor(SOON);
      await say(page, 'second');
      await state
        .getByText(/^Accepted by Restate, not taken by the agent yet \(pending\)/)
        .waitFor(SOON);
      await page.reload();
      await page.getByTestId('sent-message').getByText('second').waitFor(SOON);
    },
  );

  await checks.check('its process is killed: the cause changes, and nothing is lost', async () => {
    await agents.close();
    await row.getByText(/Connection refused|connection/).waitFor(SOON);
    await page
      .getByTestId('failure-reason')
      .getByText(/Connection refused/)
      .waitFor(SOON);
    await page.getByTestId('sent-message').getByText('second').waitFor(SOON);
  });

  await checks.check('its deployment is unreachable: its page says so', async () => {
    await page.getByTestId('deployments-link').click();
    const deployment = page.getByTestId('deployment').filter({ hasText: new URL(agents.uri).port });
    await deployment.getByText(/Restate does not reach it: .*Connection refused/).waitFor(SOON);
    const invocations = page.getByTestId('deployments').getByTestId('invocation');
    await invocations.first().getByText('boom/b1/wake').waitFor(SOON);
  });

  await checks.check('cancel says what it ended', async () => {
    await page.goto(`${url}/#/boom/b1`);
    await page.getByTestId('show-invocations').click();
    const first = page.getByTestId('agent-invocations').getByTestId('invocation').first();
    await first.getByRole('button', { name: 'Cancel' }).click();
    await page
      .getByTestId('notice')
      .getByText('Restate has been told to end boom/b1/wake.')
      .waitFor();
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

type Place = RegExp | ((url: URL) => boolean);

const REGISTRY = /\/registry\//;
const COMMANDS = /\/api\//;
const TOKENS = /\/token$/;

interface Outage {
  name: string;
  /** What the page's requests to these places get. */
  routes: [place: Place, answer: (route: Route) => Promise<void>][];
  said: RegExp;
  /** What is said of the message that is sent meanwhile. Undefined if it arrives. */
  message: RegExp | undefined;
}

function outagesOf(local: LocalSystem): Outage[] {
  const isHere = isAtGateway(local);
  const runtime = problem(502, 'upstream_unreachable', 'The runtime cannot be reached.');
  const store = problem(502, 'upstream_unreachable', 'The history store cannot be reached.');
  const gateway = problem(502, 'gateway_unreachable', 'The gateway did not answer the console.');
  return [
    {
      name: 'the runtime is stopped',
      routes: [
        [REGISTRY, runtime],
        [COMMANDS, runtime],
      ],
      said: /The runtime, Restate, is not well: The runtime cannot be reached\./,
      message: /^Not delivered yet: The runtime cannot be reached\. Trying again…$/,
    },
    {
      name: 'the history store is stopped',
      routes: [[(url) => isHere(url) && url.pathname.startsWith('/streams/'), store]],
      said: /The history store is not well: The history store cannot be reached\./,
      message: undefined,
    },
    {
      name: 'the token service is down',
      routes: [[TOKENS, problem(500, 'internal_error', 'The token service is down.')]],
      said: /No read token: The token service is down\./,
      message: undefined,
    },
    {
      name: 'the gateway is down',
      routes: [
        [isHere, (route) => route.abort('connectionrefused')],
        [REGISTRY, gateway],
        [COMMANDS, gateway],
      ],
      said: /The gateway at http\S+ does not answer\./,
      message: /^Not delivered yet: The gateway did not answer the console\. Trying again…$/,
    },
  ];
}

async function checkParts(checks: Checks, browser: Browser, world: ConsoleWorld): Promise<void> {
  await world.gateway.agents.spawn({ type: 'echo', id: 'drill' });
  for (const { name, routes, said, message } of outagesOf(world.local)) {
    await checks.check(
      `${name}: the page says so, and the message is neither lost nor called delivered`,
      async () => {
        const { page, close } = await openConsole(browser, world, '#/echo/drill');
        await page.getByTestId('connection').getByText('Live').waitFor();
        for (const [pattern, answer] of routes) await page.route(pattern, answer);
        await page.getByTestId('banner').getByText(said).waitFor(SOON);
        const text = `during: ${name}`;
        await say(page, text);
        if (message) {
          await page.getByTestId('sent-state').getByText(message).waitFor(SOON);
          assert.deepEqual(await enabled(page), []);
        }
        for (const [pattern] of routes) await page.unroute(pattern);
        await page.getByTestId('banner').waitFor({ state: 'hidden' });
        const delivered = page.getByTestId('message').getByText(text, { exact: true });
        await delivered.waitFor();
        assert.equal(await delivered.count(), 1);
        assert.equal(await page.getByTestId('sent-message').count(), 0);
        await close();
      },
    );
  }
}

/** The actions that are offered although nothing can act. */
function enabled(page: Page): Promise<string[]> {
  return page
    .locator('#verbs button:enabled, .needs-runtime:enabled')
    .evaluateAll((buttons) => buttons.map(({ textContent }) => textContent));
}

function problem(status: number, code: string, detail: string): (route: Route) => Promise<void> {
  const answer = {
    status,
    contentType: 'application/problem+json',
    headers: { 'access-control-allow-origin': '*' },
    body: JSON.stringify({ status, code, detail, sent: false, requestId: 'r1' }),
  };
  return (route) => route.fulfill(answer);
}
