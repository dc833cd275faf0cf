import { describe, expect, it } from '@jest/globals';
import { afterThisTest, forThisTest } from '../support/for-this-test.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { AUTHORIZED } from '../support/credentials.ts';
import { scriptedUpstream } from '../support/scripted-gateway.ts';
import {
  startScriptedUpstream,
  type Script,
  type ScriptedUpstream,
} from '../support/scripted-upstream.ts';
import {
  SECRET,
  secretSettings,
  secretsIn,
  sendMalformedSecrets,
  sendSecrets,
} from '../support/secrets.ts';

const END_TIMEOUT_MS = 60_000;

/** The other outputs of the process: standard output, standard error and the metrics. */
describe('the program', () => {
  it(
    'writes no secret of a client or an upstream anywhere, from its start to its end',
    async () => {
      let count = 0;
      const script: Script = (_request, response) => {
        // In turn: an answer, an error, one that breaks off, one that is no good.
        const turn = count++ % 4;
        if (turn === 3) response.socket?.end(`HTTP/1.1 200 ${SECRET}\r\n${SECRET}\0\r\n\r\n`);
        else {
          response.writeHead(turn === 0 ? 202 : 500, {
            'set-cookie': SECRET,
            'x-token': SECRET,
            ...(turn === 2 && { 'content-length': '999' }),
          });
          if (turn === 2) response.write(SECRET, () => response.destroy());
          else response.end(`{"invocationId":"inv_${SECRET}","message":"${SECRET}"}`);
        }
      };
      const upstream = forThisTest(await startScriptedUpstream(script));
      const gateway = await startGatewayChild({ env: secretSettings(upstream.url) });
      const sent = await sendSecrets(gateway.port);
      await sendMalformedSecrets(gateway.port);
      const metrics = await fetch(`${gateway.managementUrl}/metrics?token=${SECRET}`, {
        headers: { authorization: `Bearer ${SECRET}`, 'x-request-id': `not allowed ${SECRET}` },
      });
      const text = await metrics.text();
      gateway.signal('SIGTERM');
      expect(await gateway.exited).toEqual({ code: 0, signal: null });

      expect(metrics.status).toBe(200);
      expect(secretsIn(text)).toEqual([]);
      expect(gateway.output.length).toBeGreaterThan(sent);
      expect(secretsIn(gateway.output.join('\n'))).toEqual([]);
    },
    END_TIMEOUT_MS,
  );
});

/** A different credential for each upstream. */
const CREDENTIALS = {
  GATEWAY_RUNTIME_INGRESS_TOKEN: 'credential-of-the-ingress',
  GATEWAY_RUNTIME_ADMIN_TOKEN: 'credential-of-the-admin-api',
  GATEWAY_HISTORY_TOKEN: 'credential-of-the-history-store',
  GATEWAY_SYNC_SECRET: 'credential-of-the-sync-engine',
};
const FORMER_TOKEN = 'credential-of-the-whole-runtime';

describe('the credentials of the upstreams', () => {
  const upstream = (): ScriptedUpstream =>
    scriptedUpstream((_request, response) =>
      response.writeHead(202).end('{"invocationId":"inv_1"}'),
    );
  const upstreams = {
    ingress: upstream(),
    admin: upstream(),
    history: upstream(),
    sync: upstream(),
  };

  /** Starts the program and sends something to each upstream. */
  async function useAll(env: Record<string, string>): Promise<GatewayChild> {
    const gateway = await startGatewayChild({
      env: {
        GATEWAY_RUNTIME_INGRESS_URL: upstreams.ingress.url,
        GATEWAY_RUNTIME_ADMIN_URL: upstreams.admin.url,
        GATEWAY_HISTORY_URL: upstreams.history.url,
        GATEWAY_SYNC_URL: upstreams.sync.url,
        ...env,
      },
    });
    afterThisTest(() => gateway.kill());
    for (const [method, path, body] of [
      ['POST', '/api/spawn', '{"type":"chat"}'],
      ['POST', '/api/a/chat/a1/send', 'hello'],
      ['POST', '/api/a/chat/a1/control', '{"verb":"pause"}'],
      ['GET', '/registry/deployments', undefined],
      ['POST', '/registry/deployments', '{}'],
      ['GET', '/streams/x', undefined],
      ['POST', '/streams/x', 'event'],
      ['GET', '/shapes/v1/shape?table=entities', undefined],
    ] as const) {
      const answer = await fetch(gateway.url + path, { method, body, headers: AUTHORIZED });
      expect([path, answer.status]).toEqual([path, 202]);
    }
    return gateway;
  }

  /** The credentials that an upstream got to see, in whatever place. */
  const credentialsAt = ({ seen }: ScriptedUpstream): string[] => {
    const text = seen.map(({ target, rawHeaders, body }) => [target, ...rawHeaders, body].join());
    return [...new Set(text.join().match(/credential-of-the-[a-z]+(?:-[a-z]+)?/g) ?? [])];
  };
  const credentialsSeen = () =>
    Object.fromEntries(Object.entries(upstreams).map(([name, up]) => [name, credentialsAt(up)]));

  // One credential went to both ports of the runtime: what agents find in their headers opened the admin API.
  it('go each to its own upstream and to no other', async () => {
    await useAll(CREDENTIALS);
    expect(credentialsSeen()).toEqual({
      ingress: ['credential-of-the-ingress'],
      admin: ['credential-of-the-admin-api'],
      history: ['credential-of-the-history-store'],
      sync: ['credential-of-the-sync-engine'],
    });
  });

  it('are not sent where there are none, nor is a GATEWAY_RUNTIME_TOKEN, of which a warning tells', async () => {
    const { log, output } = await useAll({ GATEWAY_RUNTIME_TOKEN: FORMER_TOKEN });
    expect(credentialsSeen()).toEqual({ ingress: [], admin: [], history: [], sync: [] });
    expect(log[0]).toEqual({
      level: 'warn',
      time: expect.any(String),
      service: 'agent-gateway',
      setting: 'GATEWAY_RUNTIME_TOKEN',
      message:
        'GATEWAY_RUNTIME_TOKEN is no setting and has no effect; the nearest one is GATEWAY_RUNTIME_ADMIN_TOKEN',
    });
    expect(output.join()).not.toContain(FORMER_TOKEN);
  });
});
