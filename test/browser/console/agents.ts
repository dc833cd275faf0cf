import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import { openConsole, say, untilNotice, type ConsoleWorld } from './console-page.ts';

/** Checks the actions on an agent, and the messages for an agent that refuses, is unknown, or lacks events. */
export async function checkAgents(
  checks: Checks,
  browser: Browser,
  world: ConsoleWorld,
): Promise<void> {
  const { gateway, local } = world;
  await gateway.agents.spawn({ type: 'assistant', id: 'verbs' });
  await gateway.agents.spawn({ type: 'assistant', id: 'other' });
  const { page, close } = await openConsole(browser, world, '#/assistant/verbs');

  await checks.check('verbs that make no sense now are off, and say why', async () => {
    await page.getByTestId('agent-status').getByText('idle').waitFor();
    const isOff = (verb: string): Promise<boolean> =>
      page.getByTestId(`control-${verb}`).isDisabled();
    assert.deepEqual(await Promise.all(['interrupt', 'pause', 'resume', 'archive'].map(isOff)), [
      true,
      false,
      true,
      false,
    ]);
    assert.equal(
      await page.getByTestId('control-resume').getAttribute('title'),
      'It is not paused.',
    );
    await page.getByTestId('control-pause').click();
    await page.getByTestId('agent-status').getByText('paused').waitFor();
    assert.deepEqual(await Promise.all(['pause', 'resume'].map(isOff)), [true, false]);
    await page.getByTestId('control-resume').click();
    await page.getByTestId('agent-status').getByText('idle').waitFor();
  });

  await checks.check('a draft belongs to its agent', async () => {
    await page.getByTestId('send-text').fill('half a thou');
    await page.getByTestId('catalog-rows').getByText('other', { exact: true }).click();
    await page.getByTestId('agent-title').getByText('other').waitFor();
    assert.equal(await page.getByTestId('send-text').inputValue(), '');
    await page.goBack();
    await page.getByTestId('agent-title').getByText('verbs').waitFor();
    assert.equal(await page.getByTestId('send-text').inputValue(), 'half a thou');
  });

  await checks.check(
    'archive asks first, and what is refused then is never called sent',
    async () => {
      await page.getByTestId('control-archive').click();
      await page.getByText('Archive assistant/verbs?').waitFor();
      await page.getByRole('button', { name: 'Keep it' }).click();
      assert.equal(await page.getByTestId('agent-status').innerText(), 'idle');
      // Another page had it open when it was archived: what it sends is refused by the agent.
      const late = await openConsole(browser, world, '#/assistant/verbs');
      await late.page.getByTestId('agent-status').getByText('idle').waitFor();
      await late.page.route('**/shapes/**', (route) => route.abort());
      await late.page.reload();
      await page.getByTestId('control-archive').click();
      await page.getByTestId('archive-confirm').click();
      await page.getByTestId('agent-status').getByText('archived').waitFor();
      assert.equal(await page.getByTestId('send-text').isDisabled(), true);
      await page.getByTestId('send-hint').getByText('archived').waitFor();
      await untilNotice(late.page, 'was refused by the agent: archived', () =>
        say(late.page, 'Hello?'),
      );
      await late.page.getByTestId('sent-state').getByText('Refused: archived.').waitFor();
      await late.close();
    },
  );

  await checks.check('an unknown agent says so', async () => {
    await page.goto(`${world.url}/#/assistant/nobody`);
    await page.getByTestId('timeline-empty').getByText('There is no such agent.').waitFor();
    assert.equal(await page.getByTestId('send-submit').isDisabled(), true);
  });

  await checks.check(
    'tells of events that are missing, and shows hostile text as text',
    async () => {
      const path = `${local.baseUrl}/streams/t/default/agents/assistant/hostile/timeline`;
      const headers = {
        authorization: `Bearer ${local.apiKey}`,
        'content-type': 'application/json',
      };
      await fetch(path, { method: 'PUT', headers });
      const at = new Date().toISOString();
      const text = '<img src=x onerror=alert(1)> [x](javascript:alert(1)) **b**';
      const events = [
        { seq: 0, at, kind: 'message', content: [{ type: 'text', text }] },
        { seq: 3, at, kind: 'reply', replyTo: 0, content: [{ type: 'text', text }] },
        'no event',
      ];
      await fetch(path, { method: 'POST', headers, body: JSON.stringify(events) });
      await page.goto(`${world.url}/#/assistant/hostile`);
      await page.getByText('Events 1 to 2 are missing.').waitFor();
      const reply = page.getByTestId('reply-text');
      assert.match(
        await reply.innerText(),
        /^<img src=x onerror=alert\(1\)> \[x\]\(javascript:alert\(1\)\) b$/,
      );
      assert.equal(await page.locator('#conversation img, #conversation a').count(), 0);
    },
  );
  await checks.check(
    'shows tools where they were called, and which one waits for whom',
    async () => {
      const path = `${local.baseUrl}/streams/t/default/agents/assistant/asks/timeline`;
      const headers = {
        authorization: `Bearer ${local.apiKey}`,
        'content-type': 'application/json',
      };
      await fetch(path, { method: 'PUT', headers });
      const at = new Date().toISOString();
      const tool = { kind: 'tool', replyTo: 0, name: 'refund' };
      const events = [
        { kind: 'message', content: [{ type: 'text', text: 'hi' }], invocationId: 'inv_a' },
        { kind: 'word', replyTo: 0, text: 'I look it up.' },
        { ...tool, id: 'a.1', state: 'waiting', input: 90 },
        { kind: 'decision', replyTo: 0, call: 'a.1', approved: false, by: 'ada', note: 'too much' },
        { ...tool, id: 'a.1', state: 'denied', error: 'too much' },
        { kind: 'word', replyTo: 0, text: 'Less, then.' },
        { ...tool, id: 'a.2', state: 'waiting', input: 80 },
        { kind: 'message', content: [], invocationId: 'inv_b', ahead: 1 },
      ].map((event, seq) => ({ seq, at, ...event }));
      await fetch(path, { method: 'POST', headers, body: JSON.stringify(events) });
      await page.goto(`${world.url}/#/assistant/asks`);
      const replies = page.getByTestId('reply');
      await replies.nth(1).getByText('waits for 1 other').waitFor();
      assert.equal(
        await replies.first().getByTestId('reply-state').innerText(),
        'waits for a decision',
      );
      const shown = await replies.first().locator('.body, .tool').allInnerTexts();
      assert.deepEqual(shown, [
        'I look it up.',
        'refund denied 90 → too much denied by ada: too much',
        'Less, then.',
        'refund waits for a decision 80',
      ]);
    },
  );
  await close();
}
