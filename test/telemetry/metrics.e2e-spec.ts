import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseExposition, sampleValue } from '../support/exposition.ts';
import { forAllTests, forThisTest } from '../support/for-this-test.ts';
import { AUTHORIZED } from '../support/gateway.ts';
import { startMeasuredGateway } from '../support/measured-gateway.ts';

const TEXT = 'text/plain; version=0.0.4; charset=utf-8';
/** The `Accept` header of Prometheus 3. */
const PROMETHEUS_ACCEPT =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,' +
  'application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,' +
  'text/plain;version=0.0.4;q=0.3,*/*;q=0.2';

describe('/metrics of the management port', () => {
  const gateway = forAllTests(startMeasuredGateway);
  const ask = (headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${gateway.managementUrl}/metrics`, { headers });

  beforeAll(async () => {
    // Something of every kind, so that every family has a series.
    await fetch(`${gateway.url}/streams/x`, { headers: AUTHORIZED });
    await fetch(`${gateway.url}/streams/x?live=sse`, { headers: AUTHORIZED });
    await gateway.until('gateway_problems_total', { code: 'upstream_unreachable', reason: '' }, 2);
  });

  it('is in the text format, for no cache, and asks for no credential', async () => {
    const response = await ask();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(TEXT);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(parseExposition(await response.text()).length).toBeGreaterThan(30);
  });

  // A format that was not requested is better than no metrics.
  it.each(['*/*', 'text/html', PROMETHEUS_ACCEPT])(
    'is the same to who accepts %s',
    async (accept) => {
      const response = await ask({ accept });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, TEXT]);
    },
  );

  it('says which version this is', async () => {
    const families = await gateway.metrics();
    const info = families.find(({ name }) => name === 'gateway_build_info');
    expect(info?.samples).toEqual([
      {
        name: 'gateway_build_info',
        labels: {
          version: expect.stringMatching(/^\d+\.\d+\.\d+/),
          node_version: process.versions.node,
        },
        value: 1,
      },
    ]);
  });

  it('tells of the process: processor, memory, garbage collection, event loop', async () => {
    const families = await gateway.metrics();
    const value = (name: string, labels = {}) => sampleValue(families, name, labels);
    expect(value('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(value('process_open_fds')).toBeGreaterThan(2);
    expect(value('nodejs_heap_size_used_bytes')).toBeGreaterThan(1_000_000);
    expect(value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
    const state = (nodejs_eventloop_state: string) => ({ nodejs_eventloop_state });
    expect(value('nodejs_eventloop_time_seconds_total', state('active'))).toBeGreaterThan(0);
    expect(value('nodejs_eventloop_time_seconds_total', state('idle'))).toBeGreaterThanOrEqual(0);
    for (const kind of ['major', 'minor', 'incremental', 'weakcb']) {
      expect(value('nodejs_gc_duration_seconds_count', { kind })).toBeGreaterThanOrEqual(0);
    }
  });

  it('is not on the public port', async () => {
    const response = await fetch(`${gateway.url}/metrics`, { headers: AUTHORIZED });
    expect(response.status).toBe(404);
  });

  it('counts one gateway alone where a process has several', async () => {
    const other = forThisTest(await startMeasuredGateway());
    const labels = { code: 'upstream_unreachable', reason: '' };
    expect(await other.value('gateway_problems_total', labels)).toBe(0);
    expect(await gateway.value('gateway_problems_total', labels)).toBe(2);
  });

  it('has every declared route from the start on, as nothing yet', async () => {
    const families = await gateway.metrics();
    const requests = families.find(({ name }) => name === 'gateway_requests_total');
    const routes = new Set(
      requests?.samples
        .filter(({ labels }) => labels.http_response_status_class === '5xx')
        .map(({ labels }) => `${labels.http_request_method} ${labels.http_route}`),
    );
    expect([...routes].sort()).toEqual([
      'DELETE /registry/{*path}',
      'DELETE /streams/{*path}',
      'GET /health',
      'GET /registry/{*path}',
      'GET /shapes/{*path}',
      'GET /streams/{*path}',
      'PATCH /registry/{*path}',
      'POST /api/a/:type/:id/control',
      'POST /api/a/:type/:id/send',
      'POST /api/spawn',
      'POST /api/t/:tenant/a/:type/:id/control',
      'POST /api/t/:tenant/a/:type/:id/send',
      'POST /api/t/:tenant/spawn',
      'POST /registry/{*path}',
      'POST /streams/{*path}',
      'PUT /registry/{*path}',
      'PUT /streams/{*path}',
    ]);
  });
});
