import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import { runCli, type CliResult } from '../support/cli.ts';
import { READ_TOKEN_SECRET } from '../support/gateway.ts';
import { rawAnswer } from '../support/raw-client.ts';
import { scriptedGateway } from '../support/scripted-gateway.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

const ROOT = join(import.meta.dirname, '../..');
const SETTINGS = { GATEWAY_READ_TOKEN_SECRETS: READ_TOKEN_SECRET };

const token = (args: string[], env: Record<string, string> = SETTINGS): Promise<CliResult> =>
  runCli(['token', ...args], { env });

describe('agent-gateway token', () => {
  const { gateway } = scriptedGateway((_, response) => response.end('served'));

  it('prints a token and nothing else by npm run token, as it is documented', async () => {
    const args = ['--prefix', '/streams/t/acme/', '--ttl', '3600', '--subject', 'alice'];
    const npm = ['run', '--silent', 'token', '--', 'mint', ...args];
    const { PATH, HOME } = process.env;
    const { stdout, stderr } = await promisify(execFile)('npm', npm, {
      cwd: ROOT,
      env: { PATH, HOME, ...SETTINGS },
    });
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const headers = { authorization: `Bearer ${stdout.trim()}` };
    const answer = await fetch(`${gateway.url}/streams/t/acme/x`, { headers });
    expect([answer.status, await answer.text()]).toEqual([200, 'served']);
  });

  it('says with check what the gateway does', async () => {
    const prefixes = ['--prefix', '/streams/t/acme', '--prefix', '/shapes/v1/shape'];
    const minted = await token(['mint', ...prefixes, '--ttl', '60']);
    const paths = [
      '/streams/t/acme/x',
      '/streams/t/acme2/x',
      '/streams/t/acme/%2e%2e/x',
      '/streams/t/acme/__ds',
      '/shapes/v1/shape?table=entities',
      '/shapes/v1/shape?table=entities&where=1%3D1)%20OR%20(1%3D1',
      '/shapes/v1/shape?table=secrets',
    ];
    const said = await Promise.all(paths.map((path) => token(['check', minted.out.trim(), path])));
    for (const [i, path] of paths.entries()) {
      const headers = [`Authorization: Bearer ${minted.out.trim()}`];
      // Raw, as `fetch` would resolve the dot segments itself.
      const { status } = await rawAnswer(gateway.port, `GET ${path}`, headers);
      const expected = status === 200 ? 'yes' : `no: ${status}`;
      expect([path, said[i]?.code]).toEqual([path, status === 200 ? 0 : 1]);
      expect([path, said[i]?.out.slice(0, expected.length)]).toEqual([path, expected]);
    }
  });

  it('judges by a key set at a URL, and ends when it has spoken', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1' }];
    const keyServer = await startScriptedUpstream((_, response) => {
      response.end(JSON.stringify({ keys }));
    });
    const signed = await new SignJWT({ prefix: '/streams' })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'k1' })
      .setAudience('default')
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey);
    const env = { ...SETTINGS, GATEWAY_READ_TOKEN_JWKS: keyServer.url };
    const inspected = await token(['inspect', signed], env);
    await keyServer.stop();
    expect(inspected).toMatchObject({ code: 0, err: '' });
    expect(inspected.out).toContain('Signed by EdDSA with the key k1.\n');
    expect(inspected.out).toMatch(/accepts it\.\n$/);
    const unjudged = await token(['check', signed, '/streams/x'], env);
    expect(unjudged).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^no: 503 keys_unavailable\. /),
    });
  });

  it('ends with 2 where it mints none, and where it is used wrongly, without a stack', async () => {
    const [refused, misused, help] = await Promise.all([
      token(['mint', '--prefix', '/api', '--ttl', '60']),
      token(['mint', '--prefix', '/streams']),
      token(['--help'], {}),
    ]);
    expect([refused?.code, misused?.code, help?.code]).toEqual([2, 2, 0]);
    for (const { out, err } of [refused, misused]) {
      expect(out).toBe('');
      expect(err).toMatch(/^agent-gateway: /);
      expect(err).not.toMatch(/\n\s+at |Warning/);
    }
  });
});
