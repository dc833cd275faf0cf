import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { findNginx, HOW_TO_GET_NGINX, startNginx } from '../cache/nginx.ts';
import { AUTHORIZED } from '../support/gateway.ts';
import { scriptedGateway } from '../support/scripted-gateway.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { readPages } from './pages.ts';

const nginx = findNginx();
const EVENT = 'event: data\ndata: 1\n\n';

function shownConfiguration(port: number, gatewayPort: number): string {
  const block = readPages()
    .find(({ path }) => path === 'docs/production.md')
    ?.blocks.find(({ name }) => name === 'nginx.conf');
  return (block?.text ?? '')
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replace('server 127.0.0.1:8787;', `server 127.0.0.1:${gatewayPort};`);
}

(nginx !== undefined || process.env.CI !== undefined ? describe : describe.skip)(
  'the nginx of docs/production.md, before a gateway',
  () => {
    // An event, and never an end.
    const { gateway, upstream: history } = scriptedGateway(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(EVENT);
      },
      () => ({ GATEWAY_MAX_BODY_BYTES: '1000' }),
    );
    const front = forAllTests(() => {
      if (nginx === undefined) throw new Error(HOW_TO_GET_NGINX);
      return startNginx(nginx, (_, port) => shownConfiguration(port, gateway.port));
    });

    async function ask(
      method: string,
      path: string,
      body = '',
      url = front.url,
    ): Promise<IncomingMessage> {
      const { hostname, port } = new URL(url);
      const outgoing = request({ hostname, port, method, path, headers: AUTHORIZED }).end(body);
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
      return answer;
    }

    it('hands an event over at once, and the path as it was sent', async () => {
      const path = '/streams/t/default/a%20b%2Bc';
      const answer = await ask('GET', `${path}?live=sse`);
      const [chunk] = (await once(answer, 'data')) as [Buffer];
      answer.destroy();
      expect([answer.statusCode, chunk.toString()]).toEqual([200, EVENT]);
      expect(history.seen.at(-1)?.target).toContain(path.replace('/streams', ''));
    });

    it('leaves it to the gateway to refuse a body and a path', async () => {
      const tooLarge = await ask('POST', '/streams/x', 'x'.repeat(2_000_000));
      expect([tooLarge.statusCode, JSON.parse(await text(tooLarge))]).toEqual([
        413,
        expect.objectContaining({ code: 'body_too_large' }),
      ]);
      const malformed = await ask('GET', '/streams/a%2e%2e/%2e%2e/b');
      expect([malformed.statusCode, JSON.parse(await text(malformed))]).toEqual([
        400,
        expect.objectContaining({ code: 'malformed_path' }),
      ]);
    });

    // A page could not read nginx's own 414.
    it('takes a head as long as the gateway does', async () => {
      const answer = await ask('GET', `/health?${'x'.repeat(30_000)}`);
      expect([answer.statusCode, await text(answer)]).toEqual([
        200,
        expect.stringMatching(/^{"status":"ok"/),
      ]);
    });

    // Its default has room for 4 KiB, and it answered 502.
    it('hands on the head of a response that is longer than its page of memory', async () => {
      const server = await startScriptedUpstream((_, response) => {
        response.writeHead(200, { 'x-long': 'x'.repeat(12_000) }).end('ok');
      });
      const other = await startNginx(nginx ?? '', (_, port) =>
        shownConfiguration(port, server.port),
      );
      const answer = await ask('GET', '/a', '', other.url);
      const body = await text(answer);
      await other.stop();
      await server.stop();
      expect([answer.statusCode, body]).toEqual([200, 'ok']);
    });

    // Without `keepalive` nginx opened a connection for each request.
    it('sends the next request over the connection that it has', async () => {
      const connections = new Set<unknown>();
      const server = await startScriptedUpstream(({ socket }, response) => {
        connections.add(socket);
        response.end('ok');
      });
      const other = await startNginx(nginx ?? '', (_, port) =>
        shownConfiguration(port, server.port),
      );
      for (const path of ['/a', '/b', '/c']) {
        expect(await text(await ask('GET', path, '', other.url))).toBe('ok');
      }
      expect(connections.size).toBe(1);
      await other.stop();
      await server.stop();
    });

    it('keeps the registry closed', async () => {
      const answer = await ask('GET', '/registry/deployments');
      expect([answer.statusCode, await text(answer)]).toEqual([
        404,
        expect.stringMatching(/nginx/),
      ]);
    });
  },
);
