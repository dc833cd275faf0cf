import type { Browser } from 'playwright-core';
import { object, TerminalError } from '@restatedev/restate-sdk';
import type { Checks } from '../../support/checks.ts';
import { serveAgents } from '../../support/restate.ts';
import { shareOf } from '../../support/share.ts';
import { openConsole, type ConsoleWorld } from './console-page.ts';
import { openShop } from './shop-world.ts';

const AGENTS = 490;

/** A person who has not seen the project: where they look, and the words that they find there. */
interface Search {
  fault: string;
  /** The clicks, each by its test id, or `agent` for the line of the agent in the list. */
  clicks: string[];
  agent: string;
  /** Where the cause stands then. */
  place: string;
  cause: RegExp;
}

const SEARCHES: Search[] = [
  {
    fault: 'a key that the model refuses',
    agent: 'never',
    clicks: [],
    place: 'row-reason',
    cause: /401 invalid x-api-key/,
  },
  {
    fault: 'a traceback of Python',
    agent: 'trace',
    clicks: ['agent'],
    place: 'failure-reason',
    cause: /File "clerk\.py", line 7, in answer\n/,
  },
  {
    fault: 'a model that does not exist',
    agent: 'wrong',
    clicks: [],
    place: 'row-reason',
    cause: /no model named gpt-unknown/,
  },
  {
    fault: 'a tool that fails',
    agent: 'broken',
    clicks: ['agent', 'show-runs', 'run-line'],
    place: 'steps',
    cause: /ledger failed/,
  },
  {
    fault: 'a call that waits for a person',
    agent: 'refund-7',
    clicks: ['decisions-link'],
    place: 'decisions',
    cause: /refund\s*asked by\s*shop\/refund-7/,
  },
  {
    fault: 'an answer that came only at the third attempt',
    agent: 'third-time',
    clicks: ['agent', 'show-runs'],
    place: 'agent-runs',
    cause: /3 attempts/,
  },
  {
    fault: 'a handler that throws',
    agent: 'h1',
    clicks: [],
    place: 'row-reason',
    cause: /no room in the calendar/,
  },
  {
    fault: 'a command that failed for good',
    agent: 'h2',
    clicks: [],
    place: 'row-reason',
    cause: /the calendar is closed/,
  },
  {
    fault: 'an agent that is paused',
    agent: 'paused',
    clicks: ['agent'],
    place: 'agent-status',
    cause: /paused/,
  },
  {
    fault: 'an agent that waits for another',
    agent: 'chain',
    clicks: ['agent', 'show-runs', 'run-line'],
    place: 'steps',
    cause: /desk shop\/inv_/,
  },
];

/** Checks that each cause is on the screen after a few clicks, on a system of 500 agents. */
export async function checkTenFaults(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  const shop = await openShop(world);
  const handlers = await serveAgents([
    object({
      name: 'calendar',
      handlers: {
        wake: () => Promise.reject(new Error('no room in the calendar')),
        spawn: () => Promise.reject(new TerminalError('the calendar is closed')),
      },
    }),
  ]);
  const { gateway } = world;
  const { id } = await gateway.deployments.register(handlers.uri);
  await shop.addRows(shareOf(AGENTS));
  await gateway.agents.spawn({ type: 'calendar', id: 'h2' });
  await gateway.agents.send('calendar/h1', { kind: 'message', content: [] });
  for (const [agent, text] of Object.entries({
    never: 'never',
    trace: 'traceback',
    wrong: 'wrong',
    broken: 'broken',
    'refund-7': 'refund 120',
    'third-time': 'away 2',
    paused: 'hello',
    chain: 'desk',
  })) {
    await shop.say(agent, text);
  }
  await gateway.agents.control('shop/paused', 'pause');
  const { page, close } = await openConsole(browser, world);
  try {
    for (const { fault, agent, clicks, place, cause } of SEARCHES) {
      await checks.check(`${fault}: its cause is there after ${clicks.length} clicks`, async () => {
        await page.goto(`${world.url}/#/`);
        await page.getByTestId('filter-text').fill('');
        const row = page
          .getByTestId('catalog-row')
          .filter({ has: page.getByText(agent, { exact: true }) });
        for (const click of clicks) {
          if (click === 'agent') {
            // What does not fail is found by its name.
            await page.getByTestId('filter-text').fill(agent);
            await row.getByTestId('open').click();
          } else if (click === 'run-line') await page.locator('.run-line:visible').first().click();
          else await page.getByTestId(click).click();
        }
        const found = place === 'row-reason' ? row.getByTestId(place) : page.getByTestId(place);
        await found.filter({ hasText: cause }).first().waitFor();
      });
    }
  } finally {
    await close();
    for (const type of ['calendar', 'shop']) {
      for (const { id: invocation, target } of await gateway.invocations.list()) {
        if (target.startsWith(type)) await gateway.invocations.kill(invocation);
      }
    }
    await gateway.deployments.remove(id, { force: true });
    await handlers.close();
    await shop.stop();
  }
}
