import assert from 'node:assert/strict';
import type { Browser, Locator, Page, Route } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import { sampleOf } from '../../support/share.ts';
import { violations } from '../axe.ts';
import { assertFits, PHONE } from '../console/console-page.ts';
import {
  answersSeen,
  newChat,
  openChat,
  say,
  untilAnswersSeen,
  type ChatWorld,
} from './chat-world.ts';

const DESKTOP = { width: 1440, height: 900 };
const LOOKS = [
  { viewport: DESKTOP, colorScheme: 'light' },
  { viewport: DESKTOP, colorScheme: 'dark' },
  { viewport: PHONE, colorScheme: 'light' },
  { viewport: PHONE, colorScheme: 'dark' },
] as const;
const counted = (last: number): string =>
  Array.from({ length: last }, (_, index) => index + 1).join(' ');

/** `examples/chat` as its users see it. */
export async function checkChat(checks: Checks, browser: Browser, world: ChatWorld): Promise<void> {
  const { page, errors, close } = await openChat(browser, world, 'ada');
  await checks.check('two chats, and words as they are said', () => words(page));
  await checks.check('a reload in the middle of an answer: no word is lost or comes twice', () =>
    reload(page),
  );
  await checks.check('an answer is stopped after a reload', () => stop(page));
  await checks.check('an answer outlives several tokens', () => tokens(page));
  await checks.check('tools, failures and refusals are said plainly', () => failures(page, world));
  await checks.check('a tool asks, and runs after a yes in another tab', () => approval(page));
  await checks.check('an agent that works for the chat is a link, and nobody else opens it', () =>
    helper(browser, page, world),
  );
  await checks.check('messages that wait are seen, and taken back', () => queue(page));
  await checks.check(
    'while the gateway is down the page says so, and sends the message later',
    () => outage(page, world),
  );
  await checks.check('a chat that is closed says so', () => closed(page, world));
  await checks.check('nobody else opens the chats of a user', () => others(browser, world));
  for (const look of sampleOf(LOOKS)) {
    const name = `axe finds nothing at ${look.viewport.width}, ${look.colorScheme}, and all fits`;
    await checks.check(name, () => access(browser, world, look));
  }
  await checks.check('signing out ends the reads of the other tabs', () => signOut(page));
  await checks.check('the page has had no error', () => assert.deepEqual(errors, []));
  await close();
}

async function words(page: Page): Promise<void> {
  await page.getByText('You have no chats yet.').waitFor();
  await newChat(page, 'Chat 1');
  await newChat(page, 'Chat 2');
  await say(page, 'count to 100');
  await untilAnswered(page, 'count to 100', counted(100));
  assertGrows(await answersSeen(page), counted(100));
  // The newest is the first, and each has what was said in it.
  const links = page.getByRole('navigation').getByRole('link');
  assert.deepEqual(await links.allInnerTexts(), ['Chat 2', 'Chat 1']);
  await links.last().click();
  await page.getByText('What do you want to know?').waitFor();
  assert.equal(await page.locator('.said').count(), 0);
}

async function reload(page: Page): Promise<void> {
  // Ten seconds: the answer continues over all reloads. On a machine that is so slow that it does not, each load shows the whole.
  const whole = counted(500);
  await say(page, 'count to 500');
  for (const last of [20, 80, 140]) {
    await said(page, 'count to 500', counted(last)).waitFor();
    assertGrows(await answersSeen(page), whole);
    await page.reload();
  }
  await untilAnswered(page, 'count to 500', whole);
  assertGrows(await answersSeen(page), whole);
  assert.equal(await page.locator('.said').count(), 1);
}

/** Each text is the beginning of the whole and longer than the one before. */
function assertGrows(seen: string[], whole: string): void {
  for (const [index, text] of seen.entries()) {
    assert.ok(whole.startsWith(text.trimEnd()), `${text} is not how ${whole} begins`);
    assert.ok(text.length > (seen[index - 1]?.trimEnd().length ?? -1), `${text} is not longer`);
  }
}

async function untilAnswered(page: Page, question: string, answer: string): Promise<void> {
  const turn = page.locator('li[data-state="done"]').filter({ hasText: question });
  await turn.waitFor();
  assert.equal((await turn.locator('.said').innerText()).trim(), answer);
}

/** The answer to this question, once it has said this. It may have said more, and may be done. */
const said = (page: Page, question: string, beginning: string): Locator =>
  page
    .locator('li')
    .filter({ hasText: question })
    .locator('.said')
    .filter({ hasText: new RegExp(`^${beginning}\\b`) });

async function stop(page: Page): Promise<void> {
  // It takes 200 s, so it is still under way after the reload.
  await say(page, 'count to 9999');
  await said(page, 'count to 9999', '1 2 3 4 5').waitFor();
  await page.reload();
  // It is shown as it is said.
  await untilAnswersSeen(page, 6);
  const turn = await stopAnswer(page);
  assert.match(await turn.locator('.said').innerText(), /^1 2 3 4 5 /);
}

/** Stops the answer that is under way, and returns its turn. */
async function stopAnswer(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Stop' }).click();
  const turn = page
    .locator('li')
    .filter({ has: page.locator('.asked') })
    .last();
  await turn.getByText('Stopped.').waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  return turn;
}

async function tokens(page: Page): Promise<void> {
  const minted = (): Promise<unknown> =>
    page.waitForResponse(
      (response) => response.url().endsWith('/chat/token') && response.status() === 200,
    );
  await say(page, 'count to 9999');
  for (const _ of [1, 2, 3]) {
    const { length } = await answersSeen(page);
    await minted();
    // It continues with the new token.
    await untilAnswersSeen(page, length + 1);
  }
  const turn = await stopAnswer(page);
  const text = (await turn.locator('.said').innerText()).trim();
  assert.equal(text, counted(text.split(' ').length));
}

async function failures(page: Page, { gateway }: ChatWorld): Promise<void> {
  await newChat(page, 'Chat 3');
  await say(page, 'What is the weather in Rome?');
  await page.getByText('Used weather').waitFor();
  await page.locator('.said').getByText('The tool says {"city":"Rome","degrees":21}.').waitFor();
  // The pauses between its attempts are 7.5 s together.
  await say(page, 'fail 4 times');
  await page.getByRole('alert').getByText('The agent has trouble. It tries again').waitFor();
  await untilAnswered(page, 'fail 4 times', 'I am no model. You said: fail 4 times');
  await untilNoAlert(page);

  await page.route('**/send', refuse);
  await say(page, 'hello');
  const reason = page.getByRole('alert').getByText('The agent does not take this command.');
  await reason.waitFor();
  await page.getByText('Not sent.').waitFor();
  await page.unroute('**/send', refuse);
  await page.getByRole('button', { name: 'Send again' }).click();
  await untilAnswered(page, 'hello', 'I am no model. You said: hello');
  assert.equal(await page.getByText('Not sent.').count(), 0);
  assert.equal(await reason.count(), 0);

  await say(page, 'count to 9999');
  await said(page, 'count to 9999', '1 2 3 4 5').waitFor();
  for (let waiting = 0; waiting < 20; waiting++) await gateway.agents.send('writer/ada-3', 'next');
  await say(page, 'one too many');
  await page.getByText('Too many messages wait for an answer. Send it again later.').waitFor();
}

async function approval(page: Page): Promise<void> {
  await newChat(page, 'Chat 4');
  await say(page, 'refund 50');
  const question = page.getByRole('group', { name: 'May it use refund?' });
  await question.waitFor();
  assert.match(await question.innerText(), /amount\s+50/);
  await page.getByRole('link', { name: 'Chat 4 asks you' }).waitFor();
  // It waits on, whatever becomes of the page.
  await page.reload();
  await question.waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole('button', { name: 'Allow' }).click();
  for (const tab of [other, page]) {
    await tab.getByText('Used refund, allowed by ada').waitFor();
    await tab.locator('.said').getByText('The money is on its way.').waitFor();
    await tab.getByText(/^\d+ tokens read, \d+ written$/).waitFor();
  }
  await other.close();
  await say(page, 'refund 60');
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.getByText('ada did not allow refund').waitFor();
  await page.locator('.said').getByText('Nothing happened: denied by a person.').waitFor();
  assert.equal(await question.count(), 0);
}

async function helper(browser: Browser, page: Page, world: ChatWorld): Promise<void> {
  await newChat(page, 'Chat 5');
  await say(page, 'research order 17');
  await page.getByRole('link', { name: 'See its work' }).waitFor();
  await page.locator('.said').getByText('The carrier expects to bring it on Friday').waitFor();
  await page.getByRole('link', { name: 'See its work' }).click();
  await page.getByRole('heading', { name: 'researcher of Chat 5' }).waitFor();
  await page.locator('.said').getByText('I looked for order 17.').waitFor();
  assert.equal(await page.getByLabel('Your message').count(), 0);
  const { hash } = new URL(page.url());
  await page.getByRole('link', { name: 'Back to the chat' }).click();
  await page.getByRole('heading', { name: 'Chat 5', exact: true }).waitFor();
  const foreign = await openChat(browser, world, 'cleo');
  await foreign.page.goto(`${world.url}/${hash}`);
  await foreign.page.getByText('You have no such chat.').waitFor();
  const status = await foreign.page.evaluate(async (agent) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ content: [{ type: 'text', text: 'hi' }] });
    return (await fetch(`/chat/api/a/${agent}/send`, { method: 'POST', headers, body })).status;
  }, hash.slice(1));
  assert.equal(status, 403);
  await foreign.close();
}

async function queue(page: Page): Promise<void> {
  await say(page, 'count to 9999');
  await said(page, 'count to 9999', '1 2 3').waitFor();
  await say(page, 'count to 2');
  await say(page, 'count to 3');
  const waiting = page.getByRole('region', { name: 'Messages that wait' }).getByRole('listitem');
  await waiting.nth(1).waitFor();
  assert.deepEqual(await waiting.locator('span').allInnerTexts(), ['count to 2', 'count to 3']);
  await page.getByRole('button', { name: 'Take back: count to 2' }).click();
  await page.getByText('Taken back.').waitFor();
  assert.deepEqual(await waiting.locator('span').allInnerTexts(), ['count to 3']);
  await page.getByRole('button', { name: 'Stop' }).click();
  await untilAnswered(page, 'count to 3', counted(3));
  assert.equal(await waiting.count(), 0);
}

/** The answer can be there before the read says that it is well again. */
async function untilNoAlert(page: Page): Promise<void> {
  await page.getByRole('alert').first().waitFor({ state: 'detached' });
}

/** As the back end does if the runtime refuses a command. */
async function refuse(route: Route): Promise<void> {
  const detail = 'The agent does not take this command.';
  const body = JSON.stringify({ status: 400, code: 'runtime_rejected', detail });
  const headers = { 'x-request-id': 'r1' };
  await route.fulfill({ status: 400, contentType: 'application/problem+json', headers, body });
}

async function outage(page: Page, { front }: ChatWorld): Promise<void> {
  await newChat(page, 'Chat 6');
  await say(page, 'count to 3');
  await untilAnswered(page, 'count to 3', counted(3));
  front.refuse();
  await page.getByRole('alert').getByText('The agents cannot be reached. Trying again…').waitFor();
  await say(page, 'count to 4');
  await page.getByText('Sending…').waitFor();
  front.restore();
  await untilAnswered(page, 'count to 4', counted(4));
  await untilNoAlert(page);
  assert.equal(await page.locator('.asked').count(), 2);
}

async function closed(page: Page, { gateway }: ChatWorld): Promise<void> {
  await gateway.agents.control('writer/ada-6', 'archive');
  await page.getByPlaceholder('This chat is closed.').waitFor();
  assert.equal(await page.getByLabel('Your message').isDisabled(), true);
  await page.getByRole('link', { name: 'Chat 6 closed' }).waitFor();
}

async function others(browser: Browser, world: ChatWorld): Promise<void> {
  const { page, close } = await openChat(browser, world, 'ben');
  await page.getByText('You have no chats yet.').waitFor();
  await page.goto(`${world.url}/#writer/ada-1`);
  await page.getByText('You have no such chat.').waitFor();
  const answers = await page.evaluate(async () => {
    const headers = { 'content-type': 'application/json' };
    const post = (path: string, body: object): Promise<Response> =>
      fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
    const session = (await (await fetch('/session')).json()) as { gatewayUrl: string };
    const wanted = { agents: ['writer/ada-1', 'writer/ben-1'], catalog: true };
    const { token } = (await (await post('/chat/token', wanted)).json()) as { token: string };
    const read = (path: string): Promise<Response> =>
      fetch(session.gatewayUrl + path, { headers: { authorization: `Bearer ${token}` } });
    const all = await Promise.all([
      post('/chat/api/a/writer/ada-1/send', { kind: 'message', content: [] }),
      post('/chat/api/a/writer/ada-1/control', { verb: 'interrupt' }),
      post('/chat/api/spawn', { type: 'writer', id: 'ada-5' }),
      read('/streams/t/default/agents/writer/ada-1/timeline?offset=-1'),
      read(
        '/shapes/v1/shape?table=entities&offset=-1&where=parent%20%3D%20%27%2Ft%2Fdefault%2Fa%2Fuser%2Fada%27',
      ),
      read('/streams/t/default/agents/writer/ben-1/timeline?offset=-1'),
    ]);
    return Promise.all(
      all.map(async (answer) => {
        const { code } = (await answer.json().catch(() => ({}))) as { code?: string };
        return `${answer.status} ${code}`;
      }),
    );
  });
  assert.deepEqual(answers, [
    '403 agent_not_yours',
    '403 agent_not_yours',
    '403 agent_not_yours',
    '403 prefix_not_covered',
    '403 shape_not_covered',
    // Their own chat, which is not there yet.
    '404 undefined',
  ]);
  // Whoever writes a cookie is nobody.
  const end = Date.now() + 60_000;
  for (const cookie of [`session=ada.${end}.x`, `session=ada.${end}.`, `session=ada`]) {
    const answer = await fetch(`${world.url}/session`, { headers: { cookie } });
    assert.deepEqual(await answer.json(), {});
  }
  await close();
}

async function access(
  browser: Browser,
  world: ChatWorld,
  look: (typeof LOOKS)[number],
): Promise<void> {
  // axe itself is put into the page.
  const { page, close } = await openChat(browser, world, '', { ...look, bypassCSP: true });
  const check = async (view: string): Promise<void> => {
    await page.getByText(view).first().waitFor();
    assert.deepEqual([view, await violations(page)], [view, []]);
    await assertFits(page);
  };
  await check('This example only pretends');
  await page.getByLabel('Your name').fill('no name!');
  await page.keyboard.press('Enter');
  await check('A name has letters and digits');
  await page.getByLabel('Your name').fill('ada');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Chat 3' }).waitFor();
  await check('New chat');
  await page.goto(`${world.url}/#writer/ada-9999`);
  await check('You have no such chat.');
  await page.goto(`${world.url}/#writer/ada-6`);
  await check('count to 4');
  await page.goto(`${world.url}/#writer/ada-5`);
  await check('See its work');
  await page.goto(`${world.url}/#writer/ada-4`);
  await say(page, 'refund 70');
  await page.getByRole('button', { name: 'Allow' }).waitFor();
  await say(page, 'count to 5');
  await check('Take back');
  await page.getByRole('button', { name: 'Take back: count to 5' }).click();
  await page.getByText('Taken back.').last().waitFor();
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.getByRole('button', { name: 'Deny' }).waitFor({ state: 'detached' });
  await page.goto(`${world.url}/#writer/ada-3`);
  await check('The tool says');
  await page.route('**/send', refuse);
  await say(page, 'hello');
  await check('Not sent.');
  await close();
}

async function signOut(page: Page): Promise<void> {
  const tab = await page.context().newPage();
  await tab.goto(page.url());
  await tab.getByRole('button', { name: 'Sign out' }).click();
  for (const each of [tab, page]) await each.getByLabel('Your name').waitFor();
  await tab.close();
}
