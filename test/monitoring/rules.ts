import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTool } from '../helm/tools.ts';
import { writeYaml } from '../helm/yaml.ts';
import type { Checks } from '../support/checks.ts';
import { readGroupNames, readRules, type Rule } from '../support/monitoring-files.ts';
import { ALERT_CASES, type AlertCase, type Series } from './alert-cases.ts';
import { ALERTS_PATH, configurationOf } from './prometheus.ts';

const RELEASE = { job: 'agent-gateway', namespace: 'agents', service: 'gw-management' };
const COPY = { ...RELEASE, instance: '10.0.0.1:8788' };

/** Checks with Prometheus' own tool that the rules are valid and fire exactly when they should. */
export async function checkRules(checks: Checks): Promise<void> {
  await checks.check('the rules and the shown configuration are valid', async () => {
    const text = await configurationOf('127.0.0.1:8788');
    inFolder('prometheus.yml', text, (path) => assertSuccess(['check', 'config', path]));
  });
  await checks.check('every alert has a case', () => {
    const names = readRules().filter(({ alert }) => alert !== undefined);
    assert.deepEqual([...new Set(ALERT_CASES.map(nameOf))].sort(), names.map(nameOf).sort());
    return Promise.resolve();
  });
  for (const alertCase of ALERT_CASES) {
    const name = nameOf({ alert: alertCase.alert, labels: alertCase.labels });
    await checks.check(`${name} fires when it should, and not else`, () => {
      const test = {
        rule_files: [ALERTS_PATH],
        // What is recorded, first: at long steps the alerts would not see that of the step before.
        group_eval_order: readGroupNames(),
        evaluation_interval: `${alertCase.stepMinutes ?? 1}m`,
        tests: [
          testOf(alertCase, alertCase.fires, [{ labels: firing(alertCase), value: 1 }]),
          testOf(alertCase, alertCase.quiet, []),
          ...(alertCase.once === undefined ? [] : [onceOf(alertCase, alertCase.once)]),
        ],
      };
      inFolder('test.yml', writeYaml(test), (path) => assertSuccess(['test', 'rules', path]));
      return Promise.resolve();
    });
  }
}

function testOf(
  { alert, labels, atMinutes, stepMinutes = 1 }: AlertCase,
  series: Series,
  samples: object[],
) {
  const window = labels?.window === undefined ? '' : `, window="${labels.window}"`;
  return {
    interval: `${stepMinutes}m`,
    input_series: Object.entries(series).map(([name, values]) => ({
      series: withLabels(name, COPY),
      values,
    })),
    promql_expr_test: [
      {
        expr: `ALERTS{alertname="${alert}", alertstate="firing"${window}}`,
        eval_time: `${atMinutes}m`,
        exp_samples: samples,
      },
    ],
  };
}

/** An hour in which the alert never fires. */
function onceOf(alertCase: AlertCase, series: Series) {
  const test = testOf({ ...alertCase, atMinutes: 60, stepMinutes: 1 }, series, []);
  for (const check of test.promql_expr_test) check.expr = `count_over_time(${check.expr}[1h])`;
  return test;
}

/** The series of an alert that fires, with all its labels. */
function firing({ alert, labels = {}, of }: AlertCase): string {
  const rule = readRules().find((one) => nameOf(one) === nameOf({ alert, labels }));
  const all = { ...(of === 'copy' ? COPY : RELEASE), ...rule?.labels, ...labels, alertname: alert };
  return withLabels('ALERTS', { ...all, alertstate: 'firing' });
}

/** A series with these labels beside those that it names itself. */
function withLabels(series: string, labels: Record<string, string>): string {
  const [, name = '', own = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? [];
  const more = Object.entries(labels)
    .filter(([label]) => !own.includes(`${label}=`))
    .map(([label, value]) => `${label}="${value}"`);
  return `${name}{${[own, ...more].filter(Boolean).join(', ')}}`;
}

function nameOf({ alert, labels }: Pick<Rule, 'alert' | 'labels'>): string {
  return labels?.window === undefined ? (alert ?? '') : `${alert} over ${labels.window}`;
}

function inFolder(name: string, text: string, use: (path: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-rules-'));
  try {
    const path = join(folder, name);
    writeFileSync(path, text);
    use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function assertSuccess(args: string[]): void {
  const { code, stdout, stderr } = runTool('promtool', args);
  assert.equal(code, 0, stdout + stderr);
}
