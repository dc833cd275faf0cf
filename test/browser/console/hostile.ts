import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import { shareOf } from '../../support/share.ts';
import { openConsole, type ConsoleWorld } from './console-page.ts';

/** `TEST_SHARE=1` has them all. */
const TEXTS = 10_000;
/** After so many hostile messages comes one that a reader must be able to see. */
const HOSTILE_BEFORE_HONEST = 20;
/** The store refuses what is much deeper. */
const DEPTH = 2_000;

/** What has hidden a conversation, or stopped the page for seconds, and its relatives. */
const KNOWN: Record<string, string> = {
  'quotes in quotes': '>'.repeat(20_000),
  'open brackets': '['.repeat(64_000),
  'lists in lists': '1. '.repeat(6_000),
  'bullets in bullets': Array.from({ length: 200 }, (_, depth) => `${'  '.repeat(depth)}- a`).join(
    '\n',
  ),
  'open emphasis': '*_'.repeat(9_000),
  'a heading of hashes': '#'.repeat(19_000),
  'an endless word': 'a'.repeat(60_000),
  'endless lines': '\n'.repeat(3_000),
  'a table of columns': `${'|a'.repeat(2_000)}\n${'|-'.repeat(2_000)}\n${'|x'.repeat(2_000)}`,
  'accents on accents': `a${'\u0301'.repeat(3_000)}`,
  'a turned direction': '\u202e\u2066 txet \u0000\ufeff',
  markup: '<script>alert(1)</script><img src=x onerror=alert(1)><style>*{display:none}</style>',
  links: '[a](javascript:alert(1)) ![b](data:text/html,x) <https://x.example> https://y.example',
};

/** Checks that no message keeps another one from being read. */
export async function checkHostile(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  const { page, errors, close } = await openConsole(browser, world);
  await checks.check('any text becomes elements that say it, and nothing that runs', async () => {
    const count = shareOf(TEXTS);
    const wrong = await page.evaluate(renderRandomTexts, [count, Object.values(KNOWN)] as const);
    assert.deepEqual(wrong, []);
  });
  await checks.check('a message of any text hides no other one', async () => {
    const texts = Object.values(KNOWN).flatMap((text, index) => [text, `honest ${index}`]);
    await write(world, 'fuzz', texts);
    await page.goto(`${world.url}/#/assistant/fuzz`);
    await assertAllSeen(page, Object.keys(KNOWN).length);
  });
  await checks.check('events of any form hide no other one', async () => {
    const deep = JSON.parse(`${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`) as unknown;
    const odd = [null, deep, { toString: 1 }, 1e99, '\u202e', []];
    const events = odd.flatMap((value, index) => [
      ...Array.from({ length: HOSTILE_BEFORE_HONEST }, () => ({ kind: 'word', text: value })),
      { kind: 'message', content: value, at: value, requestId: value },
      { kind: 'tool', id: 'a', name: 'b', state: 'called', input: value, replyTo: index },
      { kind: 'status', status: value, reason: value },
      { kind: value, at: value },
      value,
      { kind: 'message', content: [{ type: 'text', text: `honest ${index}` }] },
    ]);
    await writeEvents(world, 'odd', events);
    await page.goto(`${world.url}/#/assistant/odd`);
    await assertAllSeen(page, odd.length);
    await page.getByTestId('show-events').click();
    await page
      .getByTestId('event')
      .last()
      .getByText(`honest ${odd.length - 1}`)
      .waitFor();
  });
  await checks.check('shows a table, and loads nothing that a message names', async () => {
    const table = '| a | b |\n|---|---|\n| **1** | 2 |\n\n![x](https://elsewhere.example/x.png)';
    await write(world, 'table', [table]);
    await page.goto(`${world.url}/#/assistant/table`);
    const cells = page.getByTestId('message').locator('th, td');
    await cells.first().waitFor();
    assert.deepEqual(await cells.allInnerTexts(), ['a', 'b', '1', '2']);
    assert.equal(await page.locator('#conversation img').count(), 0);
  });
  await checks.check('and the page has said no error', () => {
    assert.deepEqual(errors, []);
    return Promise.resolve();
  });
  await close();
}

/** Runs in the page. @returns what was wrong with which text. */
async function renderRandomTexts([count, known]: readonly [number, readonly string[]]): Promise<
  string[]
> {
  const path = '/page/markdown.ts';
  const { markdown } = (await import(path)) as { markdown: (text: string) => Node };
  const pieces = [
    ...'[]()<>*_`~|#-+>!\\&:\n\n \t"\'1.=/'.split(''),
    '](',
    '**',
    '```',
    '](http://a)',
    '- ',
    '> ',
    '|-|',
    'a',
    'ä\u0301',
    '\u202e',
    '\u0000',
    '<b>',
    '&lt;',
    'http://a.b/',
    '[a]: b',
  ];
  const pick = (): string => pieces[Math.floor(Math.random() * pieces.length)] ?? '';
  const random = (): string => {
    const few = Array.from({ length: 1 + Math.floor(Math.random() * 6) }, pick).join('');
    return Math.random() < 0.2
      ? few.repeat(1 + Math.floor(Math.random() * 3_000))
      : Array.from({ length: Math.floor(Math.random() * 60) }, pick).join('') + few;
  };
  const wrong: string[] = [];
  for (let index = 0; index < count; index++) {
    const text = known[index] ?? random();
    try {
      const box = document.createElement('div');
      box.append(markdown(text));
      const links = [...box.querySelectorAll('a')].map(
        ({ href, title }) => decodeURI(href) + title,
      );
      const letters = (from: string): number => from.split('ä').length;
      const said = box.textContent + links.join('');
      const isWhole = text.length > 20_000 || letters(said) >= letters(text);
      const runs = box.querySelector(
        'script, img, style, iframe, [onerror], a:not([href^="http"])',
      );
      if (!isWhole || runs)
        wrong.push(`${text.slice(0, 80)} became ${box.innerHTML.slice(0, 300)}`);
    } catch (error) {
      wrong.push(`${text.slice(0, 80)} ${String(error)}`);
    }
  }
  return wrong;
}

async function assertAllSeen(page: Page, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    await bringIntoPage(page, `honest ${index}`);
  }
}

/** The list has only what is near the visible part: this scrolls from the start until the text is there, and is shown. */
async function bringIntoPage(page: Page, text: string): Promise<void> {
  await page.waitForFunction((wanted) => {
    const scroller = document.getElementById('timeline-scroll');
    const isThere = [...document.querySelectorAll('#conversation .body')].some(
      (body) => body.textContent === wanted && body.checkVisibility(),
    );
    if (!scroller || isThere) return isThere;
    const { scrollTop, clientHeight, scrollHeight } = scroller;
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - 1;
    scroller.scrollTop = isAtEnd ? 0 : scrollTop + clientHeight;
    return false;
  }, text);
}

function write(world: ConsoleWorld, id: string, texts: readonly string[]): Promise<void> {
  const events = texts.map((text) => ({ kind: 'message', content: [{ type: 'text', text }] }));
  return writeEvents(world, id, events);
}

/** Each event in a request of its own: together they would be too long. */
async function writeEvents(
  { local }: ConsoleWorld,
  id: string,
  events: readonly unknown[],
): Promise<void> {
  const path = `${local.baseUrl}/streams/t/default/agents/assistant/${id}/timeline`;
  const headers = { authorization: `Bearer ${local.apiKey}`, 'content-type': 'application/json' };
  const at = new Date().toISOString();
  await fetch(path, { method: 'PUT', headers });
  for (const [seq, event] of events.entries()) {
    const isEvent = typeof event === 'object' && event !== null && !Array.isArray(event);
    const body = JSON.stringify([isEvent ? { seq, at, ...event } : event]);
    const { status } = await fetch(path, { method: 'POST', headers, body });
    assert.ok(status < 300, `${status} for event ${seq}`);
  }
}
