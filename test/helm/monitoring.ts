import assert from 'node:assert/strict';
import {
  readDashboard,
  readRules,
  type Dashboard,
  type Rule,
} from '../support/monitoring-files.ts';
import { parseQuery } from '../support/promql.ts';
import {
  at,
  ciValues,
  minimal,
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
    const objects = render(minimal(RULES), {
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
  // Three releases shared one uid, so that Grafana showed one of them, and one title.
  await checks.check('each release has a dashboard of its own, with the panels of the file', () => {
    const file = readDashboard();
    const [own, other] = ['gw', 'gateway-of-a-release-with-a-long-name'].map((name) => {
      const map = render(PRODUCTION, { name, namespace: 'agents' }).find(
        ({ metadata }) => metadata.labels?.grafana_dashboard === '1',
      );
      return JSON.parse(Object.values(map?.data as Tree).join()) as Dashboard;
    });
    assert.equal(own?.title, 'Agent gateway: agents/gw-agent-gateway');
    assert.equal(own.uid, 'agents_gw-agent-gateway');
    assert.match(other?.uid ?? '', /^agents_gateway-of-a-release-wit_[0-9a-f]{8}$/);
    assert.notEqual(other?.title, own.title);
    assert.deepEqual(own.panels, file.panels);
    assert.deepEqual(
      own.templating.list.filter(({ type }) => type === 'constant').map(({ query }) => query),
      Object.values(targetOf(render(PRODUCTION))),
    );
  });
  // Without the namespace and the Service the query counted the readers of every tenant.
  await checks.check('scalers count the reads of their own release alone', () => {
    const keda = render(ciValues('keda-values.yaml'));
    const query = String(at(objectOf(keda, 'ScaledObject'), 'spec.triggers.0.metadata.query'));
    const [selector] = parseQuery(query).selectors;
    assert.equal(selector?.metric, 'gateway_open_reads');
    const matched = selector.matchers.map(({ label, value }) => [label, value]);
    const scraped = render(overlay(ciValues('keda-values.yaml'), RULES));
    assert.deepEqual(Object.fromEntries(matched), targetOf(scraped));
    const metrics = at(objectOf(render(PRODUCTION), 'HorizontalPodAutoscaler'), 'spec.metrics');
    const { job, service } = targetOf(render(PRODUCTION));
    assert.deepEqual(at(metrics, '1.pods.metric'), {
      name: 'gateway_open_reads',
      selector: { matchLabels: { job, service } },
    });
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

/** The labels that Prometheus gives the series of a release: job, namespace and Service. */
function targetOf(objects: KubernetesObject[]): Record<string, string | undefined> {
  const monitor = objectOf(objects, 'ServiceMonitor');
  const { metadata } = objectOf(objects, 'Service', `${monitor.metadata.name}-management`);
  const job = metadata.labels?.[String(at(monitor, 'spec.jobLabel'))];
  return { job, namespace: metadata.namespace, service: metadata.name };
}

/** Checks that each selector of the gateway's metrics uses the labels of the scrape. */
function assertNarrowed(objects: KubernetesObject[]): void {
  const target = targetOf(objects);
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
