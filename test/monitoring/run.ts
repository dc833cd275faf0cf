import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTool } from '../helm/tools.ts';
import { Checks, giveUp } from '../support/checks.ts';
import { API_KEY, AUTHORIZED } from '../support/credentials.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { checkQueries } from './queries.ts';
import { checkRules } from './rules.ts';
import { hasPrometheus, HOW_TO_GET_PROMETHEUS, startPrometheus } from './prometheus.ts';

/** Metrics, rules and dashboard before a real Prometheus: `npm run test:monitoring`. */
async function main(): Promise<void> {
  const checks = new Checks();
  checks.section("The rules, with Prometheus' own tool");
  await checkRules(checks);

  const folder = mkdtempSync(join(tmpdir(), 'gateway-monitoring-'));
  const stops: (() => Promise<void>)[] = [];
  try {
    // From a file: without one there is no series of the files of secrets.
    const keys = join(folder, 'keys');
    writeFileSync(keys, API_KEY);
    const upstream = await startScriptedUpstream((_request, response) => {
      response.writeHead(202, { 'content-type': 'application/json' });
      response.end('{"invocationId":"inv_1","status":"Accepted","keys":[]}');
    });
    stops.push(() => upstream.stop());
    const gateway = await startGatewayChild({
      env: {
        GATEWAY_HISTORY_URL: upstream.url,
        GATEWAY_SYNC_URL: upstream.url,
        GATEWAY_RUNTIME_INGRESS_URL: upstream.url,
        GATEWAY_RUNTIME_ADMIN_URL: upstream.url,
        GATEWAY_READ_TOKEN_JWKS: `${upstream.url}/keys`,
        // It answers everything, so it is a collector, too: each request is recorded.
        OTEL_EXPORTER_OTLP_ENDPOINT: upstream.url,
        GATEWAY_API_KEYS: '',
        GATEWAY_API_KEYS_FILE: keys,
      },
    });
    stops.push(() => gateway.stop());
    const use = async (): Promise<void> => {
      const ask = (path: string, method = 'GET') =>
        fetch(gateway.url + path, { method, headers: AUTHORIZED }).then((answer) => answer.text());
      await Promise.all([
        ask('/streams/x'),
        ask('/streams/x?live=long-poll'),
        ask('/api/a/chat/a1/send', 'POST'),
        ask('/nothing'),
      ]);
    };
    await use();

    checks.section('The metrics of a gateway');
    await checks.check('promtool finds no fault with them', async () => {
      const metrics = await (await fetch(`${gateway.managementUrl}/metrics`)).text();
      const { code, stdout, stderr } = runTool('promtool', ['check', 'metrics'], metrics);
      assert.equal(stdout + stderr, '');
      assert.equal(code, 0);
    });
    checks.section('A real Prometheus that scrapes it');
    const prometheus = await startPrometheus(new URL(gateway.managementUrl).host);
    stops.push(() => prometheus.stop());
    await checkQueries(checks, prometheus, use);
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(folder, { recursive: true });
  }
  checks.finish();
}

if (hasPrometheus()) await main();
else giveUp(HOW_TO_GET_PROMETHEUS);
