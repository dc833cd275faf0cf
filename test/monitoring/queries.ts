import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { Checks } from '../support/checks.ts';
import { readDashboard } from '../support/monitoring-files.ts';
import { until } from '../support/until.ts';
import type { RunningPrometheus } from './prometheus.ts';

interface Vector {
  result: { metric: Record<string, string>; value: [number, string] }[];
}
interface Targets {
  activeTargets: { health: string; lastError: string }[];
}
interface Rules {
  groups: { rules: { name: string; health: string; lastError?: string; state?: string }[] }[];
}

/** Panels that are empty while nothing is wrong. */
const EMPTY_WHEN_WELL = [
  'Failures',
  'Credentials refused, by reason',
  "Errors of the gateway's own, by code B",
  'Key set of read tokens B',
];

/** Evaluates every rule and every panel with the metrics of a real gateway. */
export async function checkQueries(
  checks: Checks,
  prometheus: RunningPrometheus,
  use: () => Promise<void>,
): Promise<void> {
  await checks.check('it takes what the gateway serves', async () => {
    await untilHolds(async () => {
      const { data } = await prometheus.ask<Targets>('targets');
      assert.deepEqual(
        data.activeTargets.map(({ health, lastError }) => ({ health, lastError })),
        [{ health: 'up', lastError: '' }],
      );
      // Between two scrapes, for the rates.
      await use();
      const { data: rate } = await query(prometheus, 'sum(rate(gateway_requests_total[1m])) > 0');
      assert.equal(rate.result.length, 1);
    });
  });
  await checks.check('it evaluates every rule, and none of the alerts fires', async () => {
    await untilHolds(async () => {
      const { data } = await prometheus.ask<Rules>('rules');
      const rules = data.groups.flatMap((group) => group.rules);
      assert.ok(rules.length > 25);
      const bad = rules.filter(({ health }) => health !== 'ok');
      assert.deepEqual(bad, []);
      assert.deepEqual(
        rules.filter(({ state }) => state === 'firing').map(({ name }) => name),
        [],
      );
    });
  });
  for (const { title, targets = [] } of readDashboard().panels) {
    for (const { refId, expr } of targets) {
      const name = targets.length > 1 ? `${title} ${refId}` : title;
      await checks.check(`it has something for the panel ${name}`, async () => {
        const { status, error, data } = await query(prometheus, withVariables(expr));
        assert.equal(error, undefined);
        assert.equal(status, 'success');
        if (!EMPTY_WHEN_WELL.includes(name)) assert.ok(data.result.length > 0, 'no series');
      });
    }
  }
}

function query(prometheus: RunningPrometheus, text: string) {
  return prometheus.ask<Vector>('query', { query: text });
}

/** Replaces Grafana's variables: the job, and all copies. */
function withVariables(expr: string): string {
  return expr
    .replaceAll('$job', 'agent-gateway')
    .replaceAll(/\$(?:namespace|service|instance)\b/g, '.*')
    .replaceAll('$__rate_interval', '1m');
}

async function untilHolds(assertion: () => Promise<void>): Promise<void> {
  let fault: unknown;
  const holds = async (): Promise<boolean> => {
    fault = await assertion().catch((error: unknown) => error);
    return fault === undefined;
  };
  await until(
    () => String(fault),
    holds,
    () => setTimeout(250),
  );
}
