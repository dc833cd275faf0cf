import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { forThisTest } from '../support/for-this-test.ts';
import { API_KEY, AUTHORIZED, startTestGateway } from '../support/gateway.ts';
import { startMeasuredGateway } from '../support/measured-gateway.ts';
import { newFolder } from '../support/new-folder.ts';
import { logOf, scriptedUpstream } from '../support/scripted-gateway.ts';
import { until } from '../support/until.ts';

const upstream = scriptedUpstream((_request, response) => void response.writeHead(204).end());

const historyAt = (): Record<string, string> => ({ GATEWAY_HISTORY_URL: upstream.url });

async function ask(
  url: string,
  { method = 'GET', key = API_KEY, ...headers }: Record<string, string> = {},
): Promise<number> {
  const authorization = `Bearer ${key}`;
  const response = await fetch(`${url}/streams/x`, {
    method,
    headers: { authorization, ...headers },
  });
  await response.arrayBuffer();
  return response.status;
}

describe('GATEWAY_AUDIT_FILE', () => {
  it('has the audit at every level of the log, which has it no more, and follows a rotation', async () => {
    const path = join(forThisTest(await newFolder()).path, 'audit.log');
    const gateway = forThisTest(
      await startTestGateway({
        ...historyAt(),
        GATEWAY_AUDIT_FILE: path,
        GATEWAY_LOG_LEVEL: 'error',
      }),
    );
    const lines = async (file: string): Promise<Record<string, unknown>[]> =>
      (await readFile(file, 'utf8'))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    await ask(gateway.url, { method: 'DELETE', 'x-request-id': 'r1' });
    await until('the line', async () => (await lines(path)).length === 1);
    await rename(path, `${path}.1`);
    await ask(gateway.url, { method: 'DELETE', 'x-request-id': 'r2' });
    await gateway.stop();
    expect((await lines(`${path}.1`)).map(({ requestId }) => requestId)).toEqual(['r1']);
    expect(await lines(path)).toEqual([
      {
        level: 'info',
        time: expect.any(String),
        service: 'agent-gateway',
        credential: expect.any(String),
        address: '127.0.0.1',
        method: 'DELETE',
        route: '/streams/{*path}',
        path: '/streams/x',
        status: 204,
        outcome: 'done',
        requestId: 'r2',
        message: 'audit',
      },
    ]);
    expect(gateway.logLines).toEqual([]);
  });

  it('tells in the log and in a metric that the file takes nothing, and requests do not wait', async () => {
    const gateway = forThisTest(
      await startMeasuredGateway({ ...historyAt(), GATEWAY_AUDIT_FILE: '/dev/full' }),
    );
    expect(await gateway.value('gateway_audit_file_good')).toBe(1);
    expect(await ask(gateway.url, { method: 'DELETE' })).toBe(204);
    await gateway.until('gateway_audit_file_good', {}, 0);
    expect(await ask(gateway.url, { method: 'DELETE' })).toBe(204);
    expect(await gateway.value('gateway_audit_lines_dropped_total')).toBe(0);
    expect(logOf(gateway)).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'GATEWAY_AUDIT_FILE takes no lines; they wait in memory',
        err: expect.objectContaining({ code: 'ENOSPC' }),
      }),
    );
  });

  it('stops the start if it cannot be opened', async () => {
    const path = join(forThisTest(await newFolder()).path, 'none/audit.log');
    await expect(startTestGateway({ GATEWAY_AUDIT_FILE: path })).rejects.toThrow(
      'cannot append to the file of GATEWAY_AUDIT_FILE: ENOENT',
    );
  });
});

describe('GATEWAY_TRUSTED_PROXIES', () => {
  const addresses = async (env: Record<string, string>): Promise<unknown[]> => {
    const gateway = forThisTest(await startTestGateway({ ...historyAt(), ...env }));
    await ask(gateway.url, { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' });
    await ask(gateway.url, { method: 'DELETE', forwarded: 'for="[2001:db8::7]:4711"' });
    await gateway.stop();
    return logOf(gateway).flatMap(({ address }) => address ?? []);
  };

  it('lets the log and the audit have the address that a trusted proxy has seen', async () => {
    expect(await addresses({ GATEWAY_TRUSTED_PROXIES: '127.0.0.0/8' })).toEqual([
      '203.0.113.7',
      '2001:db8::7',
      '2001:db8::7',
    ]);
  });

  it('leaves the address of the connection without it, whatever a client writes', async () => {
    expect(await addresses({})).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
    expect(await addresses({ GATEWAY_TRUSTED_PROXIES: '10.0.0.0/8' })).not.toContain('203.0.113.7');
  });
});

describe('a flood of refusals', () => {
  // 45,000 requests with a wrong key hid the audit line of a DELETE.
  it('is summed up in the log, counted whole in the metrics, and hides nobody beside it', async () => {
    const gateway = forThisTest(
      await startMeasuredGateway({ ...historyAt(), GATEWAY_TRUSTED_PROXIES: '127.0.0.1' }),
    );
    const wrong = (address: string): Promise<number> =>
      ask(gateway.url, { key: 'wrong-wrong-wrong', 'x-forwarded-for': address });
    await Promise.all(Array.from({ length: 2_000 }, () => wrong('203.0.113.7')));
    await wrong('198.51.100.9');
    await ask(gateway.url, { method: 'DELETE' });
    await gateway.until(
      'gateway_problems_total',
      { code: 'invalid_credentials', reason: 'unknown_credential' },
      2_001,
    );
    await gateway.stop();
    const log = logOf(gateway);
    const ofFlood = log.filter(({ address }) => address === '203.0.113.7').length;
    const summaries = log.filter(({ message }) => String(message).endsWith(' more in this second'));
    const summedUp = summaries.reduce((sum, { refused }) => sum + Number(refused), 0);
    expect(summedUp).toBeGreaterThan(0);
    expect(ofFlood + summedUp).toBe(2_000);
    expect(summaries[0]).toMatchObject({
      level: 'warn',
      message: `refused ${Number(summaries[0]?.refused).toLocaleString('en')} more in this second`,
      codes: { invalid_credentials: summaries[0]?.refused },
      addresses: { '203.0.113.7': summaries[0]?.refused },
      fromOthers: 0,
    });
    expect(log.filter(({ address }) => address === '198.51.100.9')).toHaveLength(1);
    expect(log.filter(({ message }) => message === 'audit')).toHaveLength(1);
  });
});

describe('the line of a shape read', () => {
  it('has the table and a digest of the clause, which lead to the shape that storms', async () => {
    const gateway = forThisTest(await startTestGateway({ GATEWAY_SYNC_URL: upstream.url }));
    const query = new URLSearchParams({ table: 'entities', where: "status = 'running'" });
    await (await fetch(`${gateway.url}/shapes/v1/shape?${query}`, { headers: AUTHORIZED })).text();
    await gateway.stop();
    expect(logOf(gateway)).toEqual([
      expect.objectContaining({ message: 'request', table: 'entities', where: 'e43b3c8260a0' }),
    ]);
  });
});
