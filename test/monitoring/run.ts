import assert from 'node:assert/strict';
import { runTool } from '../helm/tools.ts';
import { Checks, giveUp } from '../support/checks.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { startMonitoredTraffic } from '../support/monitored-traffic.ts';
import { checkQueries } from './queries.ts';
import { checkRules } from './rules.ts';
import { hasPrometheus, HOW_TO_GET_PROMETHEUS, startPrometheus } from './prometheus.ts';

/** Metrics, rules and dashboard before a real Prometheus: `npm run test:monitoring`. */
async function main(): Promise<void> {
  const checks = new Checks();
  checks.section("The rules, with Prometheus' own tool");
  await checkRules(checks);

  const stops: (() => Promise<void>)[] = [];
  try {
    const traffic = await startMonitoredTraffic();
    stops.push(() => traffic.stop());
    const gateway = await startGatewayChild({ env: traffic.env });
    stops.push(() => gateway.stop());
    const use = (): Promise<void> => traffic.use(gateway.url);
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
  }
  checks.finish();
}

if (hasPrometheus()) await main();
else giveUp(HOW_TO_GET_PROMETHEUS);
