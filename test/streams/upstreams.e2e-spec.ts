import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { handlers, object, type ObjectContext, serde } from '@restatedev/restate-sdk';
import { startRestate } from '../../local/stack/restate.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { registerAgents, restateUrls, type RegisteredAgents } from '../support/restate.ts';

interface Wake {
  key: string;
  body: string;
}

describe('the real upstreams of the tests', () => {
  describe('Restate', () => {
    const wakes = Promise.withResolvers<Wake>();
    let agents: RegisteredAgents;

    beforeAll(async () => {
      const wake = handlers.object.exclusive(
        { accept: '*/*', input: serde.binary },
        async (context: ObjectContext, message: Uint8Array) => {
          wakes.resolve({ key: context.key, body: Buffer.from(message).toString() });
        },
      );
      agents = await registerAgents([object({ name: 'upstreams-probe', handlers: { wake } })]);
    });
    afterAll(() => agents?.stop());

    it('runs the handler with the very bytes of a one-way send', async () => {
      const url = `${restateUrls().ingressUrl}/upstreams-probe/a1/wake/send`;
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: '{ "n": 12345678901234567890 }',
      });

      expect(response.status).toBe(202);
      expect(await response.json()).toEqual({
        invocationId: expect.stringMatching(/^inv_/),
        status: 'Accepted',
      });
      expect(await wakes.promise).toEqual({ key: 'a1', body: '{ "n": 12345678901234567890 }' });
    });

    it('no longer knows a service once its agents have stopped', async () => {
      const gone = await registerAgents([
        object({ name: 'upstreams-gone', handlers: { wake: async () => {} } }),
      ]);
      await gone.stop();

      const { ingressUrl } = restateUrls();
      const url = `${ingressUrl}/upstreams-gone/a1/wake/send`;
      expect((await fetch(url, { method: 'POST' })).status).toBe(404);
    });
  });

  it('has a Restate of its own that, killed and restarted, tries again what was under way', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'gateway-restate-'));
    const restate = await startRestate({ dataDir });
    const woken = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let attempts = 0;
    const probe = object({
      name: 'probe',
      handlers: {
        wake: async () => {
          attempts += 1;
          begun.resolve();
          if (attempts === 1) await new Promise(() => {});
          woken.resolve();
        },
      },
    });
    const agents = await registerAgents([probe], restate.adminUrl);
    try {
      const url = `${restate.ingressUrl}/probe/a1/wake/send`;
      expect((await fetch(url, { method: 'POST' })).status).toBe(202);
      await begun.promise;

      await restate.kill();
      await restate.restart();

      await woken.promise;
      const services = await fetch(`${restate.adminUrl}/services`);
      expect(await services.json()).toMatchObject({ services: [{ name: 'probe' }] });
    } finally {
      await agents.stop();
      await restate.stop();
      await rm(dataDir, { recursive: true });
    }
  });

  describe.each(['in memory', 'on disk'])('Durable Streams %s', (store) => {
    let folder: string | undefined;
    let history: RunningHistory;

    beforeAll(async () => {
      if (store === 'on disk') folder = await mkdtemp(join(tmpdir(), 'gateway-history-'));
      history = await startHistory({ dataDir: folder });
      await put(`${history.url}/t/default/timeline`);
    });
    afterAll(async () => {
      await history?.stop();
      if (folder) await rm(folder, { recursive: true });
    });

    it('names the stream it created in an absolute Location', async () => {
      const created = await put(`${history.url}/t/default/created`);

      expect(created.status).toBe(201);
      expect(created.headers.get('location')).toBe(`${history.url}/t/default/created`);
    });

    it('gives a long-poll what is appended after its offset', async () => {
      const url = `${history.url}/t/default/timeline`;
      const caughtUp = await fetch(`${url}?offset=-1`);
      expect(await caughtUp.text()).toBe('[]');
      const offset = caughtUp.headers.get('stream-next-offset');

      const parked = fetch(`${url}?offset=${offset}&live=long-poll`);
      const appended = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"seq":1}',
      });
      expect(appended.status).toBe(204);

      expect(await (await parked).text()).toBe('[{"seq":1}]');
    });
  });

  it('ends a history store although a client keeps a connection open', async () => {
    const history = await startHistory();
    const socket = connect(history.port, '127.0.0.1');
    await once(socket, 'connect');
    const cut = new Promise((resolve) => socket.on('error', () => {}).on('close', resolve));

    await history.stop();

    await cut;
    await expect(fetch(history.url)).rejects.toThrow('fetch failed');
  });
});

function put(url: string): Promise<Response> {
  return fetch(url, { method: 'PUT', headers: { 'content-type': 'application/json' } });
}
