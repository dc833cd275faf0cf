import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import type { SeenRequest } from '../../support/scripted-upstream.ts';
import { bundlePage, modules } from '../react/bundle.ts';
import { startReactWorld, text, untilItems, type ReactWorld } from '../react/react-world.ts';
import { WAIT_MS } from '../waits.ts';
import type { AiSdkPage } from './page-script.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PACKAGE = join(ROOT, 'packages/ai-sdk');

declare const aiSdkTest: AiSdkPage;
const word = (index: number, value: string, replyTo = 0): object => ({
  kind: 'word',
  replyTo,
  index,
  text: value,
});
const reply = (said: string): object => ({ kind: 'reply', replyTo: 0, content: text(said) });
const MESSAGE = { kind: 'message', content: text('count'), requestId: 'r1' };
const WORDS = Array.from({ length: 12 }, (_, index) => ` ${index}`);

/** The transport of `@agent-gateway/ai-sdk` under the real `useChat`, in React's strict mode. */
export async function checkAiSdk(checks: Checks, browser: Browser, version: 6 | 7): Promise<void> {
  const [ai, hook] =
    version === 6
      ? ['ai-6/dist/index.mjs', 'ai-sdk-react-3/dist/index.mjs']
      : ['ai/dist/index.js', '@ai-sdk/react/dist/index.js'];
  const files = await bundlePage(join(import.meta.dirname, 'page-script.ts'), [
    { find: /^ai$/, replacement: modules(ai) },
    { find: /^@ai-sdk\/react$/, replacement: modules(hook) },
    { find: '@agent-gateway/ai-sdk', replacement: join(PACKAGE, 'src/index.ts') },
    { find: 'program-of-the-readme', replacement: await programOfReadme() },
  ]);
  const cases: [string, string, (context: BrowserContext, world: ReactWorld) => Promise<void>][] = [
    ['sent', 'an answer comes as it is said, with its tools in their places', checkSent],
    ['reload', 'a page that is reloaded in the middle of an answer shows the rest', checkReload],
    ['stop', 'the agent is stopped after a reload', checkStop],
    ['token', 'a token ends in the middle of an answer', checkToken],
    ['tabs', 'two tabs show the same, and one stops it for both', checkTabs],
    ['restart', 'the gateway restarts in the middle of an answer', checkRestart],
    ['between', 'an answer that ends while the page opens is whole', checkBetween],
    ['approve', 'a yes of one tab is shown in both, and runs after a reload', checkApproval],
    ['deny', 'two calls that wait, and a decision that is not accepted asks again', checkDenial],
    ['queue', 'two answers that run come one after the other', checkQueue],
    ['left', 'a page that has left an answer resumes it', checkLeft],
    ['readme', 'the program of the README runs', checkReadme],
    ['failed', 'a failure is an error of the chat; nothing is thrown', checkFailed],
  ];
  const agents = cases.map(([id]) => id);
  // A token of one second, which expires at a whole one, can be over before a busy machine has sent it.
  const world = await startReactWorld(files, { agents, ttlSeconds: 2 });
  try {
    for (const [, name, check] of cases) {
      await checks.check(name, async () => {
        const context = await browser.newContext();
        context.setDefaultTimeout(WAIT_MS);
        await check(context, world);
        await context.close();
      });
    }
  } finally {
    await world.stop();
  }
}

/** The file with the program, for this test's agent. The page finds its gateway in the query. */
async function programOfReadme(): Promise<string> {
  const readme = await readFile(join(PACKAGE, 'README.md'), 'utf8');
  const [, program = ''] = /^```tsx use-chat\.tsx\n([^]*?)^```$/m.exec(readme) ?? [];
  const file = join(ROOT, '.local/program-of-the-readme.tsx');
  await mkdir(dirname(file), { recursive: true });
  const own = program
    .replace("'https://gateway.example'", "new URLSearchParams(location.search).get('gateway')!")
    .replace('assistant/ada', 'chat/readme');
  assert.notEqual(own, program);
  await writeFile(file, own);
  return file;
}

/** Opens the page of an agent, or opens it again. */
async function open(page: Page, world: ReactWorld, id: string): Promise<Page> {
  await read(page, world, id);
  await page.evaluate(() => aiSdkTest.show());
  // A message that was sent before this had the status of the page without it: ready.
  await page.waitForFunction(() => {
    const [begun, answered] = aiSdkTest.resumptions;
    return begun > 0 && begun === answered;
  });
  return page;
}

/** Only reads the history. */
async function read(page: Page, world: ReactWorld, id: string): Promise<void> {
  await page.goto(world.pageUrl);
  await page.waitForFunction(() => 'aiSdkTest' in globalThis);
  await page.evaluate(([url, agent]) => aiSdkTest.open(url, agent), [
    world.gatewayUrl,
    `chat/${id}`,
  ] as const);
}

/** Waits until the page shows the messages and the status. */
async function untilShown(page: Page, wanted: string[], status: string): Promise<void> {
  const hasStatus = `document.querySelector('main').dataset.status === '${status}'`;
  await untilItems(page, 'li', wanted, hasStatus);
  assert.deepEqual(await page.evaluate(() => aiSdkTest.unhandled), []);
}

/** Clicks, and waits for the command that this sends. */
async function commandOf(button: Locator, { commands }: ReactWorld): Promise<SeenRequest> {
  const before = commands.length;
  await button.click();
  for (;;) {
    const command = commands[before];
    if (command) return command;
    await button.page().waitForTimeout(20);
  }
}

async function checkSent(context: BrowserContext, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('sent');
  const page = await open(await context.newPage(), world, 'sent');
  await untilShown(page, [], 'ready');
  await page.click('.send');
  await untilShown(page, ['user: hello'], 'submitted');
  while (world.commands.length < 1) await page.waitForTimeout(20);
  const { headers, body } = world.commands.at(-1)!;
  assert.equal(body.toString(), '{"kind":"message","content":[{"type":"text","text":"hello"}]}');
  const requestId = headers['x-request-id'];
  // The message keeps its id after a reload.
  assert.equal(await page.getAttribute('li', 'id'), requestId);
  await append([{ kind: 'message', content: text('hello'), requestId }]);
  await untilShown(page, ['user: hello', 'waiting: '], 'submitted');
  await append([word(0, 'It')]);
  await untilShown(page, ['user: hello', 'writing: It'], 'streaming');
  const tool = { kind: 'tool', replyTo: 0, id: 'c1', name: 'sum' };
  await append([word(1, ' is'), { ...tool, state: 'called', input: [1, 2] }]);
  await untilShown(page, ['user: hello', 'writing: It is[sum [1,2]]'], 'streaming');
  await append([{ ...tool, state: 'done', output: 3 }, word(2, ' 3')]);
  await untilShown(page, ['user: hello', 'writing: It is[sum 3] 3'], 'streaming');
  await append([reply('It is 3')]);
  const whole = ['user: hello', 'done: It is[sum 3] 3'];
  await untilShown(page, whole, 'ready');
  const ids = await idsOf(page);
  assert.equal(await page.evaluate(() => aiSdkTest.toolCalls), 0);
  await open(page, world, 'sent');
  await untilShown(page, whole, 'ready');
  assert.deepEqual(await idsOf(page), ids);
}

function idsOf(page: Page): Promise<string[]> {
  return page.locator('li').evaluateAll((items) => items.map(({ id }) => id));
}

async function checkReload(context: BrowserContext, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('reload');
  await append([MESSAGE]);
  const page = await context.newPage();
  let said = '';
  for (const [index, each] of WORDS.entries()) {
    if (index % 4 === 0) await open(page, world, 'reload');
    await append([word(index, each)]);
    said += each;
    await untilShown(page, ['user: count', `writing: ${said}`], 'streaming');
  }
  await append([reply(said)]);
  await untilShown(page, ['user: count', `done: ${said}`], 'ready');
}

async function checkStop(context: BrowserContext, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('stop');
  await append([MESSAGE, word(0, 'one')]);
  const page = await open(await context.newPage(), world, 'stop');
  await open(page, world, 'stop');
  await untilShown(page, ['user: count', 'writing: one'], 'streaming');
  const { target, body } = await commandOf(page.locator('.stop'), world);
  assert.match(target, /\/chat\/stop\/control\/send$/);
  assert.equal(body.toString(), '{"verb":"interrupt","reason":"enough"}');
  // The agent may say more until it is stopped.
  await append([word(1, ' two'), stopped('one two')]);
  await untilShown(page, ['user: count', 'stopped: one two'], 'ready');
}

function stopped(said: string): object {
  return { kind: 'reply', replyTo: 0, content: text(said), stopped: { verb: 'interrupt' } };
}

async function checkToken(context: BrowserContext, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('token');
  await append([MESSAGE]);
  const page = await open(await context.newPage(), world, 'token');
  let said = '';
  for (const [index, each] of WORDS.slice(0, 4).entries()) {
    const before = world.tokens;
    await append([word(index, each)]);
    said += each;
    await untilShown(page, ['user: count', `writing: ${said}`], 'streaming');
    while (world.tokens === before) await page.waitForTimeout(20);
  }
  await append([reply(said)]);
  await untilShown(page, ['user: count', `done: ${said}`], 'ready');
}

async function checkTabs(context: BrowserContext, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('tabs');
  await append([MESSAGE]);
  const one = await open(await context.newPage(), world, 'tabs');
  await append([word(0, 'one')]);
  const other = await open(await context.newPage(), world, 'tabs');
  await append([word(1, ' two')]);
  for (const tab of [one, other]) {
    await untilShown(tab, ['user: count', 'writing: one two'], 'streaming');
  }
  await other.click('.stop');
  await append([stopped('one two')]);
  for (const tab of [one, other]) {
    await untilShown(tab, ['user: count', 'stopped: one two'], 'ready');
  }
}

const refund = { kind: 'tool', replyTo: 0, id: 'r.1', name: 'refund' };
const decision = (call: string, approved: boolean): object => ({
  kind: 'decision',
  replyTo: 0,
  call,
  approved,
});

async function checkApproval(context: BrowserContext, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('approve');
  await append([MESSAGE, word(0, 'Sure.'), { ...refund, state: 'waiting', input: { amount: 50 } }]);
  const one = await open(await context.newPage(), world, 'approve');
  const other = await open(await context.newPage(), world, 'approve');
  const shown = (state: string): string[] => ['user: count', `${state}: Sure.`];
  const asks = shown('asking').map((item, index) => item + (index ? callShown('requested') : ''));
  for (const tab of [one, other]) await untilShown(tab, asks, 'streaming');
  await open(one, world, 'approve');
  await untilShown(one, asks, 'streaming');
  const sent = world.commands.length;
  const { target, body } = await commandOf(one.locator('.approve'), world);
  assert.match(target, /\/chat\/approve\/wake\/send$/);
  assert.deepEqual(JSON.parse(body.toString()), {
    kind: 'decision',
    call: 'r.1',
    approved: true,
    by: 'ada',
  });
  await untilShown(one, ['user: count', `asking: Sure.${callShown('responded')}`], 'streaming');
  // What else happens does not send it again, and asks nothing.
  await append([decision('r.1', true)]);
  const runs = ['user: count', 'writing: Sure.[refund input-available]'];
  for (const tab of [one, other]) await untilShown(tab, runs, 'streaming');
  await append([
    { ...refund, state: 'called' },
    { ...refund, state: 'done', output: 'ok' },
  ]);
  await append([reply('Sure.')]);
  const whole = ['user: count', 'done: Sure.[refund output-available]'];
  for (const tab of [one, other]) await untilShown(tab, whole, 'ready');
  await open(one, world, 'approve');
  await untilShown(one, whole, 'ready');
  assert.equal(world.commands.length, sent + 1);
}

function callShown(state: 'requested' | 'responded'): string {
  return `[refund approval-${state}]`;
}

async function checkDenial(context: BrowserContext, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('deny');
  const two = [refund, { ...refund, id: 'r.2' }];
  await append([MESSAGE, ...two.map((call) => ({ ...call, state: 'waiting', input: 50 }))]);
  const page = await open(await context.newPage(), world, 'deny');
  const both = ['user: count', `asking: ${callShown('requested').repeat(2)}`];
  await untilShown(page, both, 'streaming');
  world.runtimeStatus = 400;
  const before = world.commands.length;
  await page.click('.deny');
  await page.getByText('The agent does not take this command.').waitFor();
  while (world.commands.length < before + 2) await page.waitForTimeout(20);
  await untilShown(page, both, 'streaming');
  world.runtimeStatus = 202;
  await page.click('.deny');
  while (world.commands.length < before + 4) await page.waitForTimeout(20);
  const notes = world.commands.slice(before + 2).map(({ body }) => JSON.parse(body.toString()));
  const no = { kind: 'decision', approved: false, note: 'too much', by: 'ada' };
  assert.deepEqual(notes, [
    { ...no, call: 'r.1' },
    { ...no, call: 'r.2' },
  ]);
  await append([decision('r.1', false), { ...refund, state: 'denied' }]);
  await untilShown(
    page,
    ['user: count', `asking: [refund output-denied]${callShown('responded')}`],
    'streaming',
  );
  // Somebody stops the turn meanwhile: nothing is left to decide.
  await append([stopped('')]);
  await untilShown(
    page,
    ['user: count', 'stopped: ' + '[refund output-denied]'.repeat(2)],
    'ready',
  );
  assert.equal(world.commands.length, before + 4);
}

async function checkRestart(context: BrowserContext, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('restart');
  await append([MESSAGE, word(0, 'one')]);
  const page = await open(await context.newPage(), world, 'restart');
  await untilShown(page, ['user: count', 'writing: one'], 'streaming');
  const restarting = world.restartGateway();
  await append([word(1, ' two')]);
  await restarting;
  await untilShown(page, ['user: count', 'writing: one two'], 'streaming');
  await append([reply('one two')]);
  await untilShown(page, ['user: count', 'done: one two'], 'ready');
}

/** Between the history and the resumption nobody reads: what came then was lost. */
async function checkBetween(context: BrowserContext, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('between');
  await append([MESSAGE, word(0, 'one')]);
  const page = await context.newPage();
  await read(page, world, 'between');
  await append([word(1, ' two'), reply('one two')]);
  await page.evaluate(() => aiSdkTest.show());
  await untilShown(page, ['user: count', 'done: one two'], 'ready');
}

async function checkQueue(context: BrowserContext, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('queue');
  await append([MESSAGE, { ...MESSAGE, requestId: 'r2' }, word(0, 'one')]);
  const page = await open(await context.newPage(), world, 'queue');
  const first = (state: string): string[] => ['user: count', `${state}: one`, 'user: count'];
  await untilShown(page, [...first('writing'), 'waiting: '], 'streaming');
  await append([reply('one'), word(0, 'two', 1)]);
  await untilShown(page, [...first('done'), 'writing: two'], 'streaming');
  // A reply that is not what the words were.
  await append([{ kind: 'reply', replyTo: 1, content: text('Two.') }]);
  await untilShown(page, [...first('done'), 'done: twoTwo.'], 'ready');
  await open(page, world, 'queue');
  await untilShown(page, [...first('done'), 'done: Two.'], 'ready');
}

async function checkLeft(context: BrowserContext, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('left');
  const page = await open(await context.newPage(), world, 'left');
  const { headers } = await commandOf(page.locator('.send'), world);
  const requestId = headers['x-request-id'];
  await append([{ kind: 'message', content: text('hello'), requestId }, word(0, 'one')]);
  await untilShown(page, ['user: hello', 'writing: one'], 'streaming');
  await page.click('.leave');
  await untilShown(page, ['user: hello', 'writing: one'], 'ready');
  await append([word(1, ' two'), reply('one two')]);
  await page.click('.resume');
  await untilShown(page, ['user: hello', 'done: one two'], 'ready');
  // There is nothing to resume any more.
  await page.click('.resume');
  await untilShown(page, ['user: hello', 'done: one two'], 'ready');
}

async function checkReadme(context: BrowserContext, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('readme');
  await append([MESSAGE, word(0, 'one')]);
  const page = await context.newPage();
  await page.goto(`${world.pageUrl}?gateway=${world.gatewayUrl}`);
  await page.waitForFunction(() => 'aiSdkTest' in globalThis);
  await page.evaluate(() => aiSdkTest.showReadme());
  await page.getByText('one', { exact: true }).waitFor();
  await append([word(1, ' two')]);
  await page.getByText('one two', { exact: true }).waitFor();
  const { body } = await commandOf(page.getByText('Stop'), world);
  assert.equal(body.toString(), '{"verb":"interrupt"}');
}

async function checkFailed(context: BrowserContext, world: ReactWorld): Promise<void> {
  const append = await world.newAgent('failed');
  const page = await open(await context.newPage(), world, 'failed');
  world.runtimeStatus = 400;
  await page.click('.send');
  await untilShown(page, ['user: hello'], 'error');
  assert.equal(await page.textContent('[role=alert]'), '400 The agent does not take this command.');
  world.runtimeStatus = 202;
  const { headers } = await commandOf(page.locator('.regenerate'), world);
  const requestId = headers['x-request-id'];
  await append([{ kind: 'message', content: text('hello'), requestId }, word(0, 'one')]);
  await untilShown(page, ['user: hello', 'writing: one'], 'streaming');
  await append([{ kind: 'error', replyTo: 0, message: 'no model' }]);
  await untilShown(page, ['user: hello', 'failed: one'], 'error');
  assert.equal(await page.textContent('[role=alert]'), 'The agent failed: no model');
  await open(page, world, 'failed');
  await untilShown(page, ['user: hello', 'failed: one'], 'ready');
}
