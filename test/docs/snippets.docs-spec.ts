import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findChromium, HOW_TO_GET_CHROMIUM, launchChromium } from '../browser/chromium.ts';
import { WAIT_MS } from '../browser/waits.ts';
import { sampleOf } from '../support/share.ts';
import type { Block } from './markdown.ts';
import { NOT_RUN } from './not-run.ts';
import { PageRun } from './page-run.ts';
import { readPages } from './pages.ts';
import { treatmentOf, type Treatment } from './treatment.ts';
import { startWorld, type World } from './world.ts';

const PYTHON_PAGE = 'docs/from-python.md';
/** `npm run test:python`, which has an environment of Python, tests its page by this file, too. */
const isForPython = process.env.PYTHON_BIN !== undefined;

// With `TEST_SHARE` some of them.
const pages = sampleOf(
  readPages().filter(
    ({ path, blocks }) => blocks.some(hasTest) && (path === PYTHON_PAGE) === isForPython,
  ),
);
const firstLine = ({ text }: Block): string => (text.split('\n', 1)[0] ?? '').slice(0, 60);

function hasTest(block: Block): boolean {
  const isForReading = block.language === 'text' && block.marker === undefined;
  return !isForReading && !block.name?.includes('.');
}

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, 180_000);
afterAll(() => world?.stop());

describe.each(pages.map((page) => [page.path, page] as const))('%s', (_, page) => {
  let run: PageRun;
  beforeAll(async () => {
    run = new PageRun(page, world);
    await run.begin();
  });
  afterAll(() => run?.end());

  for (const block of page.blocks.filter(hasTest)) checkBlock(block, () => run);

  const chromium = findChromium();
  const canShow = chromium !== undefined || process.env.CI !== undefined;
  for (const { name } of page.blocks.filter(({ language }) => language === 'html')) {
    (canShow ? it : it.skip)(`shows in ${name} what the agent was asked to say`, async () => {
      if (chromium === undefined) throw new Error(HOW_TO_GET_CHROMIUM);
      const browser = await launchChromium(chromium);
      try {
        const tab = await browser.newPage();
        tab.setDefaultTimeout(WAIT_MS);
        await tab.goto(run.ownPage);
        const numbers = Array.from({ length: 100 }, (_, i) => i + 1).join(' ');
        await tab.getByText(`1 2 3 ${numbers}`).waitFor();
      } finally {
        await browser.close();
      }
    });
  }
});

function checkBlock(block: Block, run: () => PageRun): void {
  const name = `line ${block.line}, ${block.language} "${firstLine(block)}"`;
  let treatment: Treatment;
  try {
    treatment = treatmentOf(block);
  } catch (error) {
    it(`knows what to do with ${name}`, () => {
      throw error;
    });
    return;
  }
  const [does, check] = testOf(treatment, block, run);
  it(`${does} ${name}`, async () => void (await check()));
}

/** The beginning of the name of a block's test, and the test. Blocks of files and text have none here. */
function testOf(
  treatment: Treatment,
  block: Block,
  run: () => PageRun,
): [does: string, check: () => unknown] {
  if (treatment.kind === 'not run') {
    const { reason, check } = treatment;
    const checkIt = () => {
      const context = { said: world.toShown(world.said.join('\n')) };
      expect(NOT_RUN[check](block, context)).toEqual([]);
    };
    return [`does not run (${reason}) but checks (${check})`, checkIt];
  }
  const tests: Partial<Record<Treatment['kind'], [string, () => unknown]>> = {
    shell: ['runs', () => run().shell(block)],
    console: ['runs and compares', () => run().console(block)],
    http: ['sends or compares', () => run().http(block)],
    json: ['parses', () => void JSON.parse(block.text)],
  };
  const test = tests[treatment.kind];
  if (!test) throw new Error(`A block of the kind "${treatment.kind}" has no test here.`);
  return test;
}
