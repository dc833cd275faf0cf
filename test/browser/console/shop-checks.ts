import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import { violations } from '../axe.ts';
import {
  assertFits,
  LAPTOP,
  openConsole,
  PHONE,
  untilNotice,
  type ConsoleWorld,
} from './console-page.ts';
import { screenshot } from './screenshot.ts';
import { openShop, type Shop } from './shop-world.ts';

/** Checks what a model, its tools and people do: runs, decisions, arguments, export and the end of an agent. */
export async function checkShop(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  const shop = await openShop(world);
  try {
    await checkDecisions(checks, browser, world, shop);
    await checkRuns(checks, browser, world, shop);
    await checkWholeAgent(checks, browser, world);
  } finally {
    await shop.stop();
  }
}

async function checkDecisions(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
  shop: Shop,
): Promise<void> {
  await shop.say('anna', 'please refund my order: it arrived broken');
  await shop.say('refund-7', 'refund 120');
  const { page, errors, close } = await openConsole(browser, world, '#/decisions', {
    bypassCSP: true,
  });
  const card = (agent: string) => page.getByTestId('decision').filter({ hasText: agent });
  await checks.check('has what waits for a person, across agents', async () => {
    await card('shop/anna').getByText('"amount": 90').waitFor();
    await card('shop/refund-7')
      .getByText(/^for \d+ (s|min)$/)
      .waitFor();
    await page.getByTestId('decisions-count').getByText('2', { exact: true }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await violations(page), []);
    }
    await page.setViewportSize(PHONE);
    await assertFits(page);
    await page.setViewportSize(LAPTOP);
  });
  await checks.check(
    'an agent that waits does not fail, and a conversation asks, too',
    async () => {
      await page.goto(`${world.url}/#/shop/anna`);
      await page.getByTestId('agent-status').getByText('waiting').waitFor();
      await page.locator('#conversation').getByTestId('decide').waitFor();
      assert.equal(await page.getByTestId('agent-failure').isVisible(), false);
      assert.deepEqual(await violations(page), []);
      await page.emulateMedia({ colorScheme: 'light' });
      await screenshot(page, 'console-waits');
    },
  );
  await checks.check('denies with a note, which the agent gets', async () => {
    await page.goto(`${world.url}/#/decisions`);
    await card('shop/refund-7').getByTestId('decision-note').fill('not twice');
    await untilNotice(page, 'Denied: refund of shop/refund-7.', () =>
      card('shop/refund-7').getByTestId('deny').click(),
    );
    await card('shop/refund-7').waitFor({ state: 'detached' });
    await page.goto(`${world.url}/#/shop/refund-7`);
    await page.getByTestId('tool').getByText('denied by console: not twice').waitFor();
  });
  await checks.check('approves in the conversation, and the tool runs', async () => {
    await page.goto(`${world.url}/#/shop/anna`);
    await page.locator('#conversation').getByTestId('approve').click();
    await page
      .getByTestId('reply')
      .getByText('Done: the 90.00 € are on their way back to you.')
      .waitFor();
    await page.getByTestId('agent-status').getByText('idle').waitFor();
    await page.getByTestId('decisions-count').waitFor({ state: 'hidden' });
  });
  await checks.check('the page has said no error', () => {
    assert.deepEqual(errors, []);
    return Promise.resolve();
  });
  await close();
}

async function checkRuns(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
  shop: Shop,
): Promise<void> {
  await shop.say('retries', 'away 2');
  await shop.say('wrong', 'wrong');
  await shop.say('asks', 'ask the clerk');
  const { page, errors, close } = await openConsole(browser, world, '#/runs', { bypassCSP: true });
  const run = (agent: string) => page.locator(`[data-testid="run"][data-agent="${agent}"]`);
  await checks.check('has the runs of all agents, those that failed first', async () => {
    await run('shop/wrong').getByText('no model named gpt-unknown').waitFor();
    await run('shop/retries').getByText('done').waitFor();
    assert.equal(await page.getByTestId('run').first().getAttribute('data-agent'), 'shop/wrong');
    await page.getByTestId('runs-state').selectOption('failed');
    await run('shop/retries').waitFor({ state: 'detached' });
    await page.getByTestId('runs-state').selectOption('');
    await page.getByTestId('runs-type').selectOption('clerk');
    await page.getByTestId('runs-count').getByText('1', { exact: true }).waitFor();
    await page.getByTestId('runs-type').selectOption('');
    await page.getByTestId('runs-text').fill('gpt-unknown');
    await page
      .getByTestId('runs-count')
      .getByText(/^1 of \d+$/)
      .waitFor();
    await page.getByTestId('runs-text').fill('');
  });
  await checks.check('a failure that Restate tells after the timelines were read', async () => {
    const failures = '**/registry/query';
    await page.route(failures, (route) => route.abort());
    await page.reload();
    // The timeline has only what users may know.
    await run('shop/wrong').getByText('— the agent failed').waitFor();
    await page.unroute(failures);
    await run('shop/wrong').getByText('no model named gpt-unknown').waitFor();
  });
  await checks.check('a run has its attempts, steps and usage', async () => {
    await run('shop/retries').locator('.run-line').click();
    const detail = run('shop/retries').getByTestId('run-detail');
    await detail.getByText('3 attempts').waitFor();
    await detail.getByText('1,204 tokens in, 86 tokens out, cost 0.0041').waitFor();
    const states = await detail
      .getByTestId('step')
      .evaluateAll((steps) => steps.map((step) => (step as HTMLElement).dataset.state));
    assert.deepEqual(states, ['failed', 'failed', 'done']);
    await run('shop/retries').locator('.run-line').click();
    await run('shop/asks').locator('.run-line').click();
    await run('shop/asks').locator('[data-kind="agent"] a').waitFor();
    await screenshot(page, 'console-runs');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await violations(page), []);
    }
  });
  await checks.check('usage is summed up by type and agent', async () => {
    await page.getByTestId('usage').locator('summary').click();
    const row = page.locator('#usage-types tr').filter({ hasText: 'clerk' });
    assert.match(await row.innerText(), /clerk\s+1\s+0\s+310 tokens in, 24 tokens out/);
  });
  await checks.check('the page of an agent has its own runs', async () => {
    await page.goto(`${world.url}/#/shop/retries`);
    await page.getByTestId('show-runs').click();
    await page.getByTestId('agent-runs').getByText('3 attempts').waitFor();
    await page
      .getByTestId('agent-usage')
      .getByText(/^1 run: 1,204 tokens in/)
      .waitFor();
    // The counts of the former agent were on the next one.
    await page.goto(`${world.url}/#/assistant/unknown-one`);
    await page.getByTestId('timeline-empty').getByText('There is no such agent.').waitFor();
    assert.equal(await page.getByTestId('show-events').innerText(), 'Events');
  });
  await checks.check('the page has said no error then, too', () => {
    assert.deepEqual(errors, []);
    return Promise.resolve();
  });
  await close();
}

async function checkWholeAgent(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  const { page, close } = await openConsole(browser, world);
  await checks.check('spawns with arguments that are JSON, and says what is none', async () => {
    await page.getByTestId('new-agent').click();
    await page.getByTestId('spawn-type').fill('shop');
    await page.getByTestId('spawn-id').fill('with-args');
    await page.getByTestId('spawn-args').fill('{"tone": ');
    await page.getByTestId('spawn-submit').click();
    await page
      .getByTestId('spawn-problem')
      .getByText(/^The arguments are no JSON: /)
      .waitFor();
    await page.getByTestId('spawn-args').fill('{"tone": "kind"}');
    await page.getByTestId('spawn-submit').click();
    await page.getByTestId('agent-title').getByText('with-args').waitFor();
    await page.getByTestId('show-events').click();
    await page.getByTestId('event').getByText('args: {"tone":"kind"}').waitFor();
  });
  await checks.check('exports the timeline as lines of JSON', async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByTestId('export').click(),
    ]);
    assert.equal(download.suggestedFilename(), 'shop-with-args.jsonl');
    const [first = ''] = (await readFile(await download.path(), 'utf8')).split('\n');
    assert.equal((JSON.parse(first) as { kind: string }).kind, 'spawned');
  });
  await checks.check('forgets an agent only by its id, and shows the receipt', () => forget(page));
  await close();
}

async function forget(page: Page): Promise<void> {
  await page.getByTestId('forget').click();
  await page.getByTestId('forget-id').fill('another');
  await page.getByTestId('forget-confirm').click();
  await page.getByTestId('forget-problem').getByText('Write with-args to confirm.').waitFor();
  await page.getByTestId('forget-id').fill('with-args');
  await page.getByTestId('forget-confirm').click();
  const receipt = page.getByTestId('forget-receipt');
  await receipt.getByText(/^\/t\/default\/a\/shop\/with-args at /).waitFor();
  assert.match(await receipt.innerText(), /Timeline\s+deleted\s+Row\s+deleted/);
  await page.getByRole('button', { name: 'Close' }).click();
}
