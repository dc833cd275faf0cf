import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import { WAIT_MS } from '../waits.ts';
import { bundleReact } from './bundle.ts';
import type { ReactPage } from './page-script.ts';
import { startReactWorld, text, untilItems, type ReactWorld } from './react-world.ts';

declare const reactTest: ReactPage;

/** The hooks of `@agent-gateway/react` in a real page, in React's strict mode, with each version that they name. */
export async function checkReact(
  checks: Checks,
  browser: Browser,
  version: 18 | 19,
): Promise<void> {
  const cases: [string, string, (page: OpenPage, world: ReactWorld) => Promise<void>][] = [
    ['words', 'words come as they are said, each once, by one read for all', checkWords],
    ['sent', 'a message is there at once, and keeps its place', checkSent],
    ['failed', 'a message that is not accepted says so; nothing is thrown', checkFailed],
    ['many', '10,000 events are shown, and never two states at once', checkMany],
    ['left', 'a component that goes ends its read', checkLeft],
  ];
  const agents = cases.map(([id]) => id);
  const world = await startReactWorld(await bundleReact(version), { agents });
  try {
    for (const [, name, check] of cases) {
      await checks.check(name, async () => {
        const context = await browser.newContext();
        context.setDefaultTimeout(WAIT_MS);
        await check(async (id) => mount(await context.newPage(), world, id), world);
        await context.close();
      });
    }
  } finally {
    await world.stop();
  }
}

/** Opens a page with the components for one agent. */
type OpenPage = (id: string) => Promise<Page>;

async function mount(page: Page, world: ReactWorld, id: string): Promise<Page> {
  await page.goto(world.pageUrl);
  await page.waitForFunction(() => 'reactTest' in globalThis);
  await page.evaluate(([url, agent]) => reactTest.mount(url, agent), [
    world.gatewayUrl,
    `chat/${id}`,
  ] as const);
  return page;
}

/** Waits until the list on the left shows this. */
const untilShown = (page: Page, wanted: string[]) => untilItems(page, '#left li', wanted);

async function checkWords(open: OpenPage, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('words');
  await append([{ kind: 'message', content: text('count'), requestId: 'r1' }]);
  const page = await open('words');
  // A server, which reads nothing, and the first render of a page give the same.
  const html = await page.evaluate((url) => reactTest.render(url, 'chat/words'), world.gatewayUrl);
  assert.match(
    html,
    /^<main><section id="left" data-status="idle" data-connection="connecting"><ol><\/ol>/,
  );
  assert.match(html, /0(?:<!-- -->)? events, (?:<!-- -->)?0(?:<!-- -->)? rows/);
  await untilShown(page, ['waiting: count > ']);
  for (const [index, word] of ['one', ' two', ' three'].entries()) {
    await append([{ kind: 'word', replyTo: 0, index, text: word }]);
  }
  await untilShown(page, ['writing: count > one two three']);
  assert.equal(await page.getAttribute('#left', 'data-status'), 'running');
  await append([{ kind: 'reply', replyTo: 0, content: text('one two three') }]);
  await untilShown(page, ['done: count > one two three']);
  assert.equal(await page.getAttribute('#right', 'data-status'), 'idle');
  await page.waitForFunction("document.querySelector('footer').textContent === '5 events, 0 rows'");
  // One read for both chats and one for the events, although the strict mode subscribes each twice.
  await page.waitForFunction(() => reactTest.open >= 2);
  assert.equal(await page.evaluate(() => reactTest.open), 2);
  assert.deepEqual(await page.evaluate(() => reactTest.unhandled), []);
}

async function checkSent(open: OpenPage, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('sent');
  const page = await open('sent');
  const holding = world.holdNext();
  await page.click('#left .send');
  await untilShown(page, ['sending: hello > ']);
  // The other component shows it, too.
  assert.equal(await page.textContent('#right ol'), 'hello > ');
  await page.evaluate("globalThis.first = document.querySelector('#left li')");
  (await holding)();
  await untilShown(page, ['waiting: hello > ']);
  const { headers, body } = world.commands.at(-1)!;
  assert.equal(body.toString(), '{"kind":"message","content":[{"type":"text","text":"hello"}]}');
  const requestId = headers['x-request-id'];
  await append([
    { kind: 'message', content: text('hello'), requestId, invocationId: 'inv_1' },
    { kind: 'word', replyTo: 0, index: 0, text: 'HEL' },
  ]);
  await untilShown(page, ['writing: hello > HEL']);
  const isSame = "globalThis.first === document.querySelector('#left li')";
  assert.equal(await page.evaluate(isSame), true);
  await page.click('#left .stop');
  await page.waitForFunction("document.querySelector('#left [role=alert]').textContent === ''");
  while (world.commands.length < 2) await page.waitForTimeout(20);
  assert.match(world.commands.at(-1)!.target, /\/chat\/sent\/wake\/send$/);
  const stop = '{"kind":"stop","invocationId":"inv_1","reason":"enough"}';
  assert.equal(world.commands.at(-1)!.body.toString(), stop);
  const stopped = { verb: 'stop', reason: 'enough' };
  await append([{ kind: 'reply', replyTo: 0, content: text('HEL'), stopped }]);
  await untilShown(page, ['stopped: hello > HEL']);
}

async function checkFailed(open: OpenPage, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('failed');
  const page = await open('failed');
  world.runtimeStatus = 400;
  await page.click('#left .send');
  await untilShown(page, ['failed: hello > ']);
  assert.equal(
    await page.textContent('#right [role=alert]'),
    '400 The agent does not take this command.',
  );
  world.runtimeStatus = 202;
  const holding = world.holdNext();
  await page.click('#left .send');
  (await holding)();
  await untilShown(page, ['failed: hello > ', 'waiting: hello > ']);
  assert.equal(await page.textContent('#left [role=alert]'), '');
  // The agent refuses it without having written the message.
  const requestId = world.commands.at(-1)!.headers['x-request-id'];
  await append([{ kind: 'refused', reason: 'inbox full', requestId }]);
  await untilShown(page, ['failed: hello > ', 'refused: hello > ']);
  assert.equal(await page.getAttribute('#left', 'data-status'), 'idle');
  assert.deepEqual(await page.evaluate(() => reactTest.unhandled), []);
}

async function checkMany(open: OpenPage, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('many');
  await append([{ kind: 'message', content: text('count'), requestId: 'r1' }]);
  const word = (index: number): object => ({ kind: 'word', replyTo: 0, index, text: `${index} ` });
  await append(Array.from({ length: 5_000 }, (_, index) => word(index)));
  const page = await open('many');
  for (let begin = 5_000; begin < 10_000; begin += 50) {
    await append(Array.from({ length: 50 }, (_, index) => word(begin + index)));
  }
  const all = Array.from({ length: 10_000 }, (_, index) => `${index} `).join('');
  await untilShown(page, [`writing: count > ${all}`]);
  assert.equal(await page.evaluate(() => reactTest.tears), 0);
  assert.ok((await page.evaluate(() => reactTest.commits)) > 1);
}

async function checkLeft(open: OpenPage, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('left');
  await append([{ kind: 'message', content: text('hello'), requestId: 'r1' }]);
  const page = await open('left');
  await untilShown(page, ['waiting: hello > ']);
  await page.evaluate(() => reactTest.unmount());
  await page.waitForFunction(() => reactTest.open === 0);
  // What is mounted again reads again.
  await page.evaluate(([url]) => reactTest.mount(url, 'chat/left'), [world.gatewayUrl] as const);
  await untilShown(page, ['waiting: hello > ']);
}
