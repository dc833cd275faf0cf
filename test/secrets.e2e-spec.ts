import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildGateway, type BuiltGateway } from './support/built-gateway.ts';
import { startGatewayChild } from './support/gateway-child.ts';
import { startScriptedUpstream } from './support/scripted-upstream.ts';
import {
  SECRET,
  secretSettings,
  secretsIn,
  sendMalformedSecrets,
  sendSecrets,
} from './support/secrets.ts';

const END_TIMEOUT_MS = 60_000;

/** What leaves the process beside its answers: both outputs, and the metrics. */
describe('the program', () => {
  let built: BuiltGateway;
  beforeAll(async () => {
    built = await buildGateway();
  }, END_TIMEOUT_MS);
  afterAll(() => built?.remove());

  it(
    'writes no secret of a client or an upstream anywhere, from its start to its end',
    async () => {
      let count = 0;
      const upstream = await startScriptedUpstream((_request, response) => {
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
      });
      const gateway = await startGatewayChild({
        main: built.main,
        env: { ...secretSettings(upstream.url), GATEWAY_DRAIN_TIMEOUT_MS: '500' },
      });
      const sent = await sendSecrets(gateway.port);
      await sendMalformedSecrets(gateway.port);
      const metrics = await fetch(`${gateway.managementUrl}/metrics?token=${SECRET}`, {
        headers: { authorization: `Bearer ${SECRET}`, 'x-request-id': `not allowed ${SECRET}` },
      });
      const text = await metrics.text();
      gateway.signal('SIGTERM');
      expect(await gateway.exited).toEqual({ code: 0, signal: null });
      await upstream.stop();

      expect(metrics.status).toBe(200);
      expect(secretsIn(text)).toEqual([]);
      expect(gateway.output.length).toBeGreaterThan(sent);
      expect(secretsIn(gateway.output.join('\n'))).toEqual([]);
    },
    END_TIMEOUT_MS,
  );
});
