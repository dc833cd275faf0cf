import { Checks, giveUp } from '../support/checks.ts';
import { findChromium, HOW_TO_GET_CHROMIUM, launchChromium } from './chromium.ts';
import { checkConsole } from './console.ts';
import { checkReads } from './reads.ts';
import { checkRefusals } from './refusals.ts';
import { startWorld } from './world.ts';

/**
 * The gateway seen from a real browser, page and gateway on different origins, and the console.
 * `npm run test:browser -- --screenshots` takes the pictures of the docs anew.
 */
async function main(executablePath: string): Promise<void> {
  const checks = new Checks();
  const browser = await launchChromium(executablePath);
  try {
    const world = await startWorld();
    try {
      checks.section('What a page may do with a read token');
      await checkReads(checks, browser, world);
      checks.section('What a page may not do, and what it can tell');
      await checkRefusals(checks, browser, world);
    } finally {
      await world.stop();
    }
    checks.section('The console of npm run local');
    await checkConsole(checks, browser);
  } finally {
    await browser.close();
  }
  checks.finish();
}

const chromiumPath = findChromium();
if (chromiumPath === undefined) giveUp(HOW_TO_GET_CHROMIUM);
else await main(chromiumPath);
