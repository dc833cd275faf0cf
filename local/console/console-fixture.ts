import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startConsole } from './console-server.ts';

export const API_KEY = 'key-of-the-console-0123456789';
export const SECRET = 'secret-of-32-bytes-or-a-few-more-than-that';
export const ACCEPTED = { url: '/t/acme/a/echo/e1', restate: { invocationId: 'inv_1' } };
export const SPAWN = JSON.stringify({ type: 'echo', id: 'e1' });

export interface Received {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface ConsoleFixture {
  readonly url: string;
  readonly port: number;
  readonly gatewayUrl: string;
  /** The requests that the gateway received, oldest first. */
  readonly received: Received[];
  /** The gateway's response, at first 202. */
  gatewayAnswer: { status: number; contentType: string; body: unknown };
  /** The headers of the page's own POST. */
  ownHeaders(): OutgoingHttpHeaders;
  /** A POST like that of the page, except for these headers. */
  post(path: string, body: string, headers?: OutgoingHttpHeaders): Promise<Answer>;
  ask(method: string, path: string, headers?: OutgoingHttpHeaders, body?: string): Promise<Answer>;
  closeGateway(): Promise<void>;
  stop(): Promise<void>;
}

/** The console of the tenant `acme` with a gateway that only records. */
export async function startFixture({ mintsTokens = true } = {}): Promise<ConsoleFixture> {
  const received: Received[] = [];
  const gateway = createServer((req, res) => {
    void req.toArray().then((chunks) => {
      const { method, url, headers } = req;
      received.push({ method, url, headers, body: Buffer.concat(chunks as Buffer[]).toString() });
      const { status, contentType, body } = fixture.gatewayAnswer;
      res.writeHead(status, { 'content-type': contentType, 'set-cookie': 'a=b' });
      res.end(JSON.stringify(body));
    });
  }).listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  const gatewayUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  const running = await startConsole({
    port: 0,
    gatewayUrl,
    apiKey: API_KEY,
    ...(mintsTokens && { readTokenSecret: SECRET }),
    tenant: 'acme',
  });
  const { url, port } = running;
  const ask: ConsoleFixture['ask'] = (...exchange) => askAt(port, ...exchange);
  const ownHeaders = () => ({
    origin: url,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
    'idempotency-key': 'k1',
  });
  const closeGateway = async () => {
    gateway.closeAllConnections();
    await new Promise((resolve) => gateway.close(resolve));
  };
  const fixture: ConsoleFixture = {
    url,
    port,
    gatewayUrl,
    received,
    gatewayAnswer: { status: 202, contentType: 'application/json', body: ACCEPTED },
    ownHeaders,
    post: (path, body, headers) => ask('POST', path, { ...ownHeaders(), ...headers }, body),
    ask,
    closeGateway,
    stop: async () => {
      await running.stop();
      await closeGateway();
    },
  };
  return fixture;
}

/** The whole form of the console's own refusal, for `toMatchObject`. */
export function problem(status: number, code: string, detail: string): Partial<Answer> {
  return { status, text: JSON.stringify({ status, code, detail }) };
}

/** `fetch` is not used, because it sets `Host` and `Sec-Fetch-*` itself. */
async function askAt(
  port: number,
  method: string,
  path: string,
  headers: OutgoingHttpHeaders = {},
  body = '',
): Promise<Answer> {
  const asked = request({ host: '127.0.0.1', port, method, path, headers });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const chunks = (await response.toArray()) as Buffer[];
  const { statusCode: status = 0, headers: answered } = response;
  return { status, headers: answered, text: Buffer.concat(chunks).toString() };
}
