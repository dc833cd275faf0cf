import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer as createPlainServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/credentials.ts';
import { afterThisTest, forAllTests } from '../support/for-this-test.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { listening } from '../support/listening.ts';
import { newFolder } from '../support/new-folder.ts';
import { TLS_IDENTITY } from '../support/tls-identity.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/troubleshooting.md'), 'utf8');

/** A client sees only 502, so the operator finds the cause by the words of the log in docs/troubleshooting.md. */
describe('an upstream that TLS does not reach', () => {
  const tls = forAllTests(() =>
    listening(createTlsServer(TLS_IDENTITY, (_request, response) => response.end('[]'))),
  );
  // As Caddy does with a path that none of its routes takes.
  const plain = forAllTests(() =>
    listening(createPlainServer((_request, response) => response.end())),
  );
  const folder = forAllTests(newFolder);
  let certificate: string;
  let gateway: GatewayChild;

  beforeAll(async () => {
    certificate = join(folder.path, 'ca.pem');
    await writeFile(certificate, TLS_IDENTITY.cert);
  });

  /** Reads through a gateway with this history store, and gives the status and the cause that the log has. */
  async function read(historyUrl: string, env: Record<string, string> = {}) {
    gateway = await startGatewayChild({ env: { GATEWAY_HISTORY_URL: historyUrl, ...env } });
    afterThisTest(() => gateway.kill());
    const response = await fetch(`${gateway.url}/streams/t/x`, { headers: AUTHORIZED });
    const body = await response.text();
    if (response.status === 200) return { response, body };
    const problem = JSON.parse(body) as { code: string; requestId: string };
    const { requestId } = problem;
    const line = await gateway.process.waitForLine(
      (text) => text.includes(requestId) && text.includes('"err"'),
    );
    const { err } = JSON.parse(line) as { err: { code?: string; message: string } };
    return { response, code: problem.code, err };
  }

  function expectOnPage(words: string | undefined): void {
    expect(PAGE).toContain(`\`${words}\``);
  }

  it.each([
    ['a certificate that nobody trusts', () => `https://localhost:${tls.port}`, false],
    ['a certificate of another name', () => `https://127.0.0.1:${tls.port}`, true],
    ['a port that speaks no TLS', () => `https://localhost:${plain.port}`, false],
  ])('names %s by a code that the page has', async (_, url, isTrusted) => {
    const env = isTrusted ? { NODE_EXTRA_CA_CERTS: certificate } : undefined;
    const { response, code, err } = await read(url(), env);
    expect({ status: response.status, code }).toEqual({
      status: 502,
      code: 'upstream_unreachable',
    });
    expectOnPage(err?.code);
  });

  it('says of a port that expects TLS that it closed the connection', async () => {
    const { response, err } = await read(`http://localhost:${tls.port}`);
    expect(response.status).toBe(502);
    expectOnPage(err?.message);
  });

  // Node goes on without it, and says so in a line that is no JSON.
  it('prints that NODE_EXTRA_CA_CERTS cannot be read, and starts', async () => {
    const missing = join(folder.path, 'nowhere.pem');
    const { response } = await read(`https://localhost:${tls.port}`, {
      NODE_EXTRA_CA_CERTS: missing,
    });
    expect(response.status).toBe(502);
    const line = gateway.output.find((text) => text.includes(missing)) ?? '';
    expect(line.startsWith('Warning: Ignoring extra certs from ')).toBe(true);
    expectOnPage('Warning: Ignoring extra certs from …');
  });

  it('trusts the certificate with NODE_EXTRA_CA_CERTS', async () => {
    const { response, body } = await read(`https://localhost:${tls.port}`, {
      NODE_EXTRA_CA_CERTS: certificate,
    });
    expect({ status: response.status, body }).toEqual({ status: 200, body: '[]' });
  });

  it('passes on what a server says at an address without its mount path', async () => {
    const { response, body } = await read(`http://localhost:${plain.port}`);
    expect({ status: response.status, body }).toEqual({ status: 200, body: '' });
    expect(response.headers.get('stream-next-offset')).toBeNull();
  });
});
