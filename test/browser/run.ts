import type { Browser } from 'playwright-core';
import { Checks, giveUp } from '../support/checks.ts';
import { sampleOf } from '../support/share.ts';
import { checkAiSdk } from './ai-sdk/ai-sdk.ts';
import { checkChat } from './chat/chat.ts';
import { withChat } from './chat/chat-world.ts';
import { checkDocsPage } from './chat/docs-page.ts';
import { findChromium, HOW_TO_GET_CHROMIUM, launchChromium } from './chromium.ts';
import { checkClientFaults } from './client-faults.ts';
import { checkAccess } from './console/access.ts';
import { checkAgentFaults } from './console/agent-faults.ts';
import { checkAgents } from './console/agents.ts';
import { withConsole } from './console/console-page.ts';
import { checkDeployments } from './console/deployments.ts';
import { checkForeignPages } from './console/foreign-pages.ts';
import { checkHostile } from './console/hostile.ts';
import { checkManyTabs } from './console/many-tabs.ts';
import { checkOutages } from './console/outages.ts';
import { checkOwnKey } from './console/own-key.ts';
import { checkRound } from './console/round.ts';
import { checkScale } from './console/scale.ts';
import { checkShop } from './console/shop-checks.ts';
import { checkTenFaults } from './console/ten-faults.ts';
import { checkDrill } from './drill/drill.ts';
import { checkReact } from './react/react.ts';
import { checkReaderFuzz } from './reader-fuzz.ts';
import { checkReads } from './reads.ts';
import { checkRefusals } from './refusals.ts';
import { withWorld } from './world.ts';

/** The checks of the console, each by the name of its file. */
const CONSOLE = {
  round: checkRound,
  agents: checkAgents,
  outages: checkOutages,
  'agent-faults': checkAgentFaults,
  hostile: checkHostile,
  'own-key': checkOwnKey,
  'many-tabs': checkManyTabs,
  scale: checkScale,
  access: checkAccess,
  deployments: checkDeployments,
  'foreign-pages': checkForeignPages,
  // They leave agents that failed, so the others come before them.
  shop: checkShop,
  'ten-faults': checkTenFaults,
};

/**
 * The gateway seen from a real browser, page and gateway on different origins, and the console.
 * `npm run test:browser -- drill console/round` runs parts, and `-- --screenshots` takes new screenshots for the docs. With
 * `TEST_SHARE` it has some files of the console, some faults of the drill, some rounds of the readers, and of React and the AI SDK some
 * versions.
 */
async function main(executablePath: string): Promise<void> {
  const checks = new Checks();
  const browser = await launchChromium(executablePath);
  try {
    for (const [name, run] of Object.entries(PARTS)) {
      if (isWanted(name)) await run(checks, browser);
    }
  } finally {
    await browser.close();
  }
  checks.finish();
}

const PARTS: Record<string, (checks: Checks, browser: Browser) => Promise<void>> = {
  pages: checkPages,
  readers: (checks, browser) =>
    withWorld((world) => {
      checks.section('Readers that come back');
      return checkReaderFuzz(checks, browser, world);
    }),
  react: async (checks, browser) => {
    for (const version of sampleOf([18, 19] as const)) {
      checks.section(`The hooks, in React ${version}`);
      await checkReact(checks, browser, version);
    }
  },
  'ai-sdk': async (checks, browser) => {
    for (const version of sampleOf([6, 7] as const)) {
      checks.section(`The transport, in AI SDK ${version}`);
      await checkAiSdk(checks, browser, version);
    }
  },
  chat: async (checks, browser) => {
    checks.section('The chat to copy');
    await withChat(async (world) => {
      await checkChat(checks, browser, world);
      // These programs are the same ones beside the back end in Python.
      if (process.env.PYTHON_BIN !== undefined) return;
      checks.section('The programs of docs/chat.md');
      await checkDocsPage(checks, browser, world);
    });
  },
  console: async (checks, browser) => {
    checks.section('The console of npm run local');
    await withConsole(async (world) => {
      const wanted = Object.entries(CONSOLE).filter(([name]) => isWanted(`console/${name}`));
      for (const [, check] of sampleOf(wanted, 6)) await check(checks, browser, world);
    });
  },
  drill: (checks, browser) => {
    checks.section('The drill, with parts that are really killed');
    return checkDrill(checks, browser);
  },
};

function checkPages(checks: Checks, browser: Browser): Promise<void> {
  return withWorld(async (world) => {
    checks.section('What a page may do with a read token');
    await checkReads(checks, browser, world);
    checks.section('What a page may not do, and what it can tell');
    await checkRefusals(checks, browser, world);
    checks.section('What the library keeps under random faults');
    await checkClientFaults(checks, browser, world);
  });
}

/** Whether the arguments name this part, a part of it or the whole that it belongs to. Without arguments, all are wanted. */
function isWanted(part: string): boolean {
  const wanted = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
  const covers = (outer: string, inner: string): boolean =>
    inner === outer || inner.startsWith(`${outer}/`);
  return wanted.length === 0 || wanted.some((one) => covers(one, part) || covers(part, one));
}

const chromiumPath = findChromium();
if (chromiumPath === undefined) giveUp(HOW_TO_GET_CHROMIUM);
else await main(chromiumPath);
