import assert from 'node:assert/strict';
import { readChartFile, readRules, type Rule } from '../support/monitoring-files.ts';
import { parseQuery } from '../support/promql.ts';
import {
  at,
  ciValues,
  objectOf,
  overlay,
  render,
  type KubernetesObject,
  type Tree,
} from './chart.ts';
import type { Checks } from '../support/checks.ts';

const PRODUCTION = ciValues('production-values.yaml');
const RULES = { prometheusRule: { enabled: true }, serviceMonitor: { enabled: true } };

/** Checks what the chart gives to Prometheus and Grafana. */
export async function checkMonitoring(checks: Checks): Promise<void> {
  await checks.check('the PrometheusRule has every rule of the file but those left out', () => {
    const { disabledAlerts } = PRODUCTION.prometheusRule as { disabledAlerts: string[] };
    const names = rulesOf(render(PRODUCTION)).map(nameOf);
    const wanted = readRules()
      .map(nameOf)
      .filter((name) => !disabledAlerts.includes(name));
    assert.equal(disabledAlerts.length, 1);
    assert.deepEqual(names.sort(), [...wanted, 'AgentGatewayNotReady'].sort());
  });
  await checks.check('every alert has its texts, its severity and the labels of the values', () => {
    for (const { alert, labels, annotations } of rulesOf(render(PRODUCTION))) {
      if (alert === undefined) continue;
      assert.equal(labels?.team, 'platform', alert);
      assert.match(labels.severity ?? '', /^(?:critical|warning)$/, alert);
      assert.match(annotations?.summary ?? '', /\.$/, alert);
      assert.match(annotations?.description ?? '', /\.$/, alert);
      const runbook = `https://runbooks.example/agent-gateway/docs/alerts.md#${alert.toLowerCase()}`;
      assert.equal(annotations?.runbook_url, runbook);
    }
  });
  await checks.check(
    'rules look at their own release alone, under the name that it is scraped by',
    () => {
      for (const name of ['acme', 'globex']) {
        const objects = render(overlay(ciValues(`tenant-${name}-values.yaml`), RULES), {
          name,
          namespace: 'agents',
        });
        assertNarrowed(objects);
      }
      assertNarrowed(render(overlay(PRODUCTION, { nameOverride: 'front-door' })));
    },
  );
  // agent-gateway-.+ meant the pods of agent-gateway-eu, too.
  await checks.check('the alert on pods means those of its own release alone', () => {
    const objects = render(overlay(ciValues('minimal-values.yaml'), RULES), {
      name: 'agent-gateway',
      namespace: 'agents',
    });
    const rule = rulesOf(objects).find(({ alert }) => alert === 'AgentGatewayNotReady');
    const [selector] = parseQuery(rule?.expr ?? '').selectors;
    const pods = selector?.matchers.find(({ label }) => label === 'pod');
    assert.equal(pods?.operator, '=~');
    // Prometheus anchors at both ends.
    const own = new RegExp(`^(?:${pods.value})$`);
    for (const pod of ['agent-gateway-7d9f8b6c5d-x2k4p', 'agent-gateway-5c4-bcdfg']) {
      assert.match(pod, own);
    }
    for (const pod of [
      'agent-gateway-eu-7d9f8b6c5d-x2k4p',
      'agent-gateway-test',
      'other-agent-gateway-7d9f8b6c5d-x2k4p',
    ]) {
      assert.doesNotMatch(pod, own);
    }
  });
  await checks.check('the dashboard is handed over as it is in the file', () => {
    const dashboard = objectOf(render(PRODUCTION), 'ConfigMap', 'gw-agent-gateway-dashboard');
    assert.equal(at(dashboard, 'metadata.labels.grafana_dashboard'), '1');
    const [text] = Object.values(dashboard.data as Record<string, string>);
    assert.deepEqual(JSON.parse(text ?? ''), JSON.parse(readChartFile('files/dashboard.json')));
  });
  await checks.check('the management port is open to the monitoring alone', () => {
    const policy = objectOf(render(PRODUCTION), 'NetworkPolicy');
    const ingress = at(policy, 'spec.ingress') as { ports: { port: unknown }[] }[];
    const open = ingress.filter(({ ports }) => ports.some(({ port }) => port === 'management'));
    const { monitoring } = PRODUCTION.networkPolicy as Tree;
    assert.deepEqual(open, [
      { from: monitoring, ports: [{ protocol: 'TCP', port: 'management' }] },
    ]);
  });
}

/** Checks that each selector of the gateway's metrics uses the labels of the scrape: job, namespace and Service. */
function assertNarrowed(objects: KubernetesObject[]): void {
  const monitor = objectOf(objects, 'ServiceMonitor');
  const service = objects.find(
    ({ kind, metadata }) => kind === 'Service' && metadata.name.endsWith('-management'),
  );
  const job = service?.metadata.labels?.[String(at(monitor, 'spec.jobLabel'))];
  const target = { job, namespace: service?.metadata.namespace, service: service?.metadata.name };
  assert.ok(Object.values(target).every((value) => value));
  for (const rule of rulesOf(objects)) {
    for (const { metric, matchers } of parseQuery(rule.expr).selectors) {
      if (metric.startsWith('kube_')) continue;
      const given = matchers.filter(({ operator }) => operator === '=');
      const values = Object.fromEntries(given.map(({ label, value }) => [label, value]));
      assert.deepEqual({ ...values, ...target }, values, `${nameOf(rule)}: ${metric}`);
    }
  }
}

function rulesOf(objects: KubernetesObject[]): Rule[] {
  const groups = at(objectOf(objects, 'PrometheusRule'), 'spec.groups') as { rules: Rule[] }[];
  return groups.flatMap(({ rules }) => rules);
}

function nameOf({ alert, record, labels }: Rule): string {
  return record ?? `${alert}${labels?.window ? ` ${labels.window}` : ''}`;
}
