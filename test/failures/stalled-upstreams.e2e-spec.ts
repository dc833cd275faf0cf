import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/gateway.ts';
import { scriptedGateway } from '../support/scripted-gateway.ts';
import { until } from '../support/until.ts';

const STALL_TIMEOUT_MS = 300;

/** 100 reads and 50 registry calls whose upstream stopped in the middle of an answer had no end. */
describe('an upstream that stops in the middle of a body', () => {
  let responses: ServerResponse[];
  const { gateway } = scriptedGateway(
    (request, response) => {
      responses.push(response);
      const type = request.url?.includes('sse') ? 'text/event-stream' : 'application/json';
      response.writeHead(200, { 'content-type': type });
      response.write(type === 'application/json' ? '[1,' : 'event: control\ndata: {}\n\n');
    },
    () => ({ GATEWAY_UPSTREAM_STALL_TIMEOUT_MS: String(STALL_TIMEOUT_MS) }),
  );
  beforeEach(() => void (responses = []));

  const ask = (path: string, method = 'GET'): Promise<Response> =>
    fetch(`${gateway.url}${path}`, {
      method,
      headers: AUTHORIZED,
      ...(method === 'POST' ? { body: 'x' } : {}),
    });

  it.each([
    ['a read of its own', 'GET', '/streams/x?offset=now'],
    ['a long-poll', 'GET', '/shapes/v1/shape?live=true&handle=1&offset=1_0&table=entities'],
    ['a registry call', 'GET', '/registry/deployments'],
    ['an append', 'POST', '/streams/x'],
  ])('is broken off, in the answer to %s', async (_, method, path) => {
    const outcome = ask(path, method).then(
      async (answer) => {
        const body = await answer.text().catch(() => 'broken off');
        return `${answer.status} ${body}`;
      },
      () => 'broken off',
    );
    await until('the upstream is asked', () => responses.length > 0);
    const closed = once(responses[0]!, 'close');
    expect(await outcome).toMatch(/broken off|"code":"upstream_invalid_response"/);
    await closed;
  });

  it('may do so for as long as it likes in a stream of events', async () => {
    const events = await ask('/streams/s?offset=1_0&live=sse');
    const own = await ask('/streams/s?offset=now&live=sse');
    // Others are broken off meanwhile, one after the other.
    for (let others = 0; others < 2; others++) {
      await expect(ask('/registry/deployments').then((answer) => answer.text())).rejects.toThrow();
    }
    for (const [index, stream] of [events, own].entries()) {
      const reader = stream.body!.getReader();
      await reader.read();
      responses[index]?.write('event: control\ndata: {"later":1}\n\n');
      expect(Buffer.from((await reader.read()).value ?? []).toString()).toContain('later');
      await reader.cancel();
    }
  });
});
