import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import { runCli } from '../../support/cli.ts';
import { sampleOf } from '../../support/share.ts';
import { openConsoleAt, say } from '../console/console-page.ts';
import { WAIT_MS } from '../waits.ts';
import { withDrillWorld, type DrillWorld } from './drill-world.ts';
import { FAULTS, type Fault } from './faults.ts';

/**
 * Kills and stops each part of a real system, and looks at the console and the doctor. It prints how long each took to name
 * the fault, which is below ten seconds on a machine that does nothing else.
 */
export async function checkDrill(checks: Checks, browser: Browser): Promise<void> {
  await withDrillWorld(async (world) => {
    for (const [index, fault] of sampleOf(FAULTS).entries()) {
      await checks.check(`${fault.name}: page and doctor say so, and a message arrives once`, () =>
        drill(browser, world, fault, `patient-${index}`),
      );
    }
  });
}

async function drill(browser: Browser, world: DrillWorld, fault: Fault, id: string): Promise<void> {
  await world.gateway.agents.spawn({ type: 'echo', id });
  const { page, close } = await openConsoleAt(browser, world.url, `#/echo/${id}`);
  const second = await openConsoleAt(browser, world.url, '#/deployments');
  const text = `while ${fault.name}`;
  try {
    // The library gives a silent read up after 90 s.
    await page
      .getByTestId('connection')
      .getByText('Live')
      .waitFor({ timeout: 2 * WAIT_MS });
    await page.locator('[data-what="spawned"]').waitFor();
    await fault.begin(world);
    try {
      await Promise.all([
        timed('the page', pageSays(page, fault, text)),
        timed('the deployments', deploymentsSay(second.page, fault)),
        timed('the doctor', doctorSays(world, fault)),
      ]);
    } finally {
      await fault.end(world);
    }
    await page.getByTestId('banner').waitFor({ state: 'hidden' });
    const delivered = page.getByTestId('message').getByText(text, { exact: true });
    await delivered.waitFor();
    await page.getByTestId('sent-message').waitFor({ state: 'detached' });
    assert.equal(await delivered.count(), 1);
  } catch (error) {
    const pageSaid = await page.locator('body').innerText().catch(String);
    const partsSaid = world.output.slice(-120).join('\n');
    throw new Error(`The page said:\n${pageSaid}\nThe parts said:\n${partsSaid}`, { cause: error });
  } finally {
    await second.close();
    await close();
  }
}

async function pageSays(
  page: Page,
  { banner, agent, message, stopsCommands }: Fault,
  text: string,
): Promise<void> {
  await say(page, text);
  const row = page.getByTestId('catalog-row').and(page.locator('.selected'));
  await Promise.all([
    banner && page.locator('#banner-problems li').getByText(banner).waitFor(),
    agent && row.getByText(agent).waitFor(),
    agent && page.getByTestId('failure-reason').getByText(agent).waitFor(),
    message && page.getByTestId('sent-state').getByText(message).waitFor(),
  ]);
  // What is said of one part is said of no other, but where a busy machine made that one late for a moment.
  const others = page.locator('#banner-problems li').filter({ hasNotText: banner });
  if (banner) await others.first().waitFor({ state: 'detached' });
  if (stopsCommands) assert.deepEqual(await enabledActions(page), []);
}

/** The actions that are offered although nothing can act. */
function enabledActions(page: Page): Promise<string[]> {
  return page
    .locator('#verbs button:enabled, .needs-runtime:enabled')
    .evaluateAll((buttons) => buttons.map(({ textContent }) => textContent));
}

async function deploymentsSay(page: Page, { deployment }: Fault): Promise<void> {
  if (!deployment) return;
  await page.getByTestId('deployment').getByText(deployment).waitFor();
}

async function doctorSays({ baseUrl, apiKey }: DrillWorld, { doctor }: Fault): Promise<void> {
  const env = { AGENT_GATEWAY_URL: baseUrl, AGENT_GATEWAY_KEY: apiKey };
  const { out } = await runCli(['doctor'], { env });
  assert.match(out, doctor);
}

async function timed(who: string, said: Promise<void>): Promise<void> {
  const startedAtMs = performance.now();
  await said;
  const tookSeconds = (performance.now() - startedAtMs) / 1_000;
  process.stdout.write(`    ${who} said so after ${tookSeconds.toFixed(1)} s\n`);
}
