import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import { pathProblem } from '../../src/request/request-path.ts';
import { Random } from '../soak/random.ts';
import { API_KEY, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import {
  startScriptedUpstream,
  type ScriptedUpstream,
  type SeenRequest,
} from '../support/scripted-upstream.ts';
import { fuzzRequest, garbage } from './fuzz-requests.ts';

const FUZZ_MS = 6_000;
const AT_ONCE = 16;
/** For how long a connection that says nothing more is listened to. */
const SILENCE_MS = 40;
const WRONG_KEY = 'a-key-that-is-not-known';
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_101);

describe(`random and mutated HTTP on the raw socket (FUZZ_SEED=${SEED})`, () => {
  let upstream: ScriptedUpstream;
  let gateway: GatewayChild;

  beforeAll(async () => {
    upstream = await startScriptedUpstream((_request, response) => {
      response.end('{"invocationId":"inv_1","status":"Accepted"}');
    });
    gateway = await startGatewayChild({
      env: {
        GATEWAY_HISTORY_URL: `${upstream.url}/history`,
        GATEWAY_SYNC_URL: `${upstream.url}/sync`,
        GATEWAY_RUNTIME_INGRESS_URL: `${upstream.url}/ingress`,
        GATEWAY_RUNTIME_ADMIN_URL: `${upstream.url}/admin`,
      },
    });
  });
  afterAll(async () => {
    await gateway?.process.kill();
    await upstream?.stop();
  });

  it('without a credential, or with a wrong one: no upstream request, no 5xx, no hang', async () => {
    const random = new Random(SEED);
    const wrong = await fuzz(() =>
      random.next() < 0.2
        ? garbage(random)
        : fuzzRequest(random, random.next() < 0.5 ? WRONG_KEY : undefined),
    );
    expect(wrong).toEqual([]);
    expect(upstream.seen).toEqual([]);
    await expectWell();
  });

  it('with a read token: only reads of what its prefix covers reach an upstream', async () => {
    const random = new Random(SEED + 1);
    const token = await new SignJWT({ prefix: '/streams/t/a' })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience('default')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(Buffer.from(READ_TOKEN_SECRET));
    upstream.seen.splice(0);
    const wrong = await fuzz(() => fuzzRequest(random, token));
    expect(wrong).toEqual([]);
    expect(upstream.seen.length).toBeGreaterThan(0);
    const beyond = upstream.seen.filter(
      ({ method, target }) =>
        !['GET', 'HEAD'].includes(method) || !/^\/history\/t\/a(?:[/?]|$)/.test(target),
    );
    expect(beyond.map(({ method, target }) => `${method} ${target}`)).toEqual([]);
    expect(faultsOf(upstream.seen)).toEqual([]);
    await expectWell();
  });

  it('with an API key: what reaches an upstream stays below its base and carries no credential', async () => {
    const random = new Random(SEED + 2);
    upstream.seen.splice(0);
    const wrong = await fuzz(() => fuzzRequest(random, API_KEY));
    expect(wrong).toEqual([]);
    expect(upstream.seen.length).toBeGreaterThan(0);
    expect(faultsOf(upstream.seen)).toEqual([]);
    await expectWell();
  });

  /** What no upstream may ever see. */
  function faultsOf(requests: readonly SeenRequest[]): string[] {
    return requests.flatMap(({ method, target, headers }) => {
      const path = target.split('?')[0] ?? '';
      const problems = [
        /^\/(?:history|sync|ingress|admin)(?:[/?]|$)/.test(target) ? '' : 'outside of every base',
        pathProblem(path) ?? '',
        headers.authorization ?? headers.cookie ?? '',
        headers.host === `127.0.0.1:${upstream.port}` ? '' : `host ${headers.host}`,
        headers['x-forwarded-host'] === undefined ? '' : 'x-forwarded-host',
        headers.upgrade === undefined ? '' : 'upgrade',
      ].filter((problem) => problem !== '');
      return problems.map((problem) => `${method} ${target}: ${problem}`);
    });
  }

  /** The requests that were answered as none may be; each with its answer. */
  async function fuzz(next: () => Buffer): Promise<string[]> {
    const wrong: string[] = [];
    const overAtMs = performance.now() + FUZZ_MS;
    const connections = Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() < overAtMs && wrong.length < 5) {
        const request = next();
        const answer = await send(request);
        const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, code]) => code);
        // The upstream answers everything, so nothing of the gateway's own may be a 5xx.
        if (statuses.some((status) => status?.startsWith('5'))) {
          wrong.push(`${JSON.stringify(request.toString('latin1'))} → ${answer.slice(0, 500)}`);
        }
      }
    });
    await Promise.all(connections);
    return wrong;
  }

  function send(request: Buffer): Promise<string> {
    return new Promise((resolve) => {
      let answer = '';
      const socket: Socket = connect(gateway.port, '127.0.0.1', () => socket.write(request));
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
      socket.on('error', () => undefined);
      socket.setTimeout(SILENCE_MS, () => socket.destroy());
      socket.once('close', () => resolve(answer));
    });
  }

  /** Alive, quick, and without an error of its own in the log. */
  async function expectWell(): Promise<void> {
    const health = await fetch(`${gateway.url}/health`, { signal: AbortSignal.timeout(2_000) });
    expect(health.status).toBe(200);
    const errors = gateway.log.filter(
      (line) =>
        ['error', 'fatal'].includes(String(line['level'])) || line['code'] === 'internal_error',
    );
    expect(errors).toEqual([]);
  }
});
