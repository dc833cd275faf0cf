import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import type { Checks } from '../../support/checks.ts';
import { listeningPorts } from '../../support/listening-ports.ts';
import { startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { REBOUND_HOST } from '../chromium.ts';
import { WAIT_MS } from '../waits.ts';
import type { ConsoleWorld } from './console-page.ts';

const PARTS = ['restate', 'history', 'catalog', 'agents'];
/** A status without data, or none: the page may not see the answer, or it is no HTTP/1.1. */
const REFUSED = /^40[134]$|Failed to fetch|net::ERR_INVALID_HTTP_RESPONSE|net::ERR_EMPTY_RESPONSE/;
const VICTIM = '/t/default/agents/assistant/victim/timeline';

const READS = [
  `/v1/stream${VICTIM}?offset=-1`,
  '/v1/shape?table=entities&offset=-1',
  '/rows/entities',
  '/deployments',
  '/restate/health',
];

/** Does what a page of another site could try with the parts of a local system that a developer runs. */
export async function checkForeignPages(
  checks: Checks,
  browser: Browser,
  { local, gateway }: ConsoleWorld,
): Promise<void> {
  await gateway.agents.spawn({ type: 'assistant', id: 'victim' });
  for await (const event of gateway.timeline('assistant/victim')) if (event) break;
  const before = await (await local.get(`/streams${VICTIM}?offset=-1`)).text();
  const ports = await listeningPorts([local.process.pid, ...PARTS.map(local.partPid)]);
  const site = await startScriptedUpstream((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>another site</title>');
  });

  await checks.check('a page of another site reads nothing of the parts', async () => {
    const page = await browser.newPage();
    await page.goto(site.url);
    for (const port of ports) {
      for (const path of READS) {
        const read = await page.evaluate(
          ([url]) => fetch(url).then((answer) => answer.status, String),
          [`http://127.0.0.1:${port}${path}`] as const,
        );
        assert.match(String(read), REFUSED, `port ${port}${path}`);
      }
    }
    await page.close();
  });

  await checks.check('and changes nothing in them', async () => {
    const page = await browser.newPage();
    await page.goto(site.url);
    for (const port of ports) {
      for (const [method, path] of [
        ['DELETE', `/v1/stream${VICTIM}`],
        ['PUT', '/v1/stream/t/default/evil'],
        ['POST', `/v1/stream${VICTIM}`],
        ['POST', '/assistant/victim/wake/send'],
        ['PUT', '/rows/entities'],
        ['POST', '/deployments'],
      ] as const) {
        await page.evaluate(
          ([url, init]) => fetch(url, init as RequestInit).catch(() => undefined),
          [
            `http://127.0.0.1:${port}${path}`,
            // A form could send it: no preflight asks before it.
            { method, body: '{}', mode: method === 'POST' ? 'no-cors' : 'cors' },
          ] as const,
        );
      }
    }
    assert.equal(await (await local.get(`/streams${VICTIM}?offset=-1`)).text(), before);
    assert.equal((await local.get('/streams/t/default/evil?offset=-1')).status, 404);
    await page.close();
  });

  await checks.check('nor does one whose name now leads to this machine', async () => {
    for (const port of ports) {
      for (const path of READS) {
        // A page each: the browser's own page of an error would interrupt the next one.
        const page = await browser.newPage();
        page.setDefaultTimeout(WAIT_MS);
        const read = await page.goto(`http://${REBOUND_HOST}:${port}${path}`).then(
          (answer) => answer?.status(),
          (error: unknown) => String(error),
        );
        assert.match(String(read), REFUSED, `port ${port}${path}`);
        await page.close();
      }
    }
  });
  await site.stop();
}
