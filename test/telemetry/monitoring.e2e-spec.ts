import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseYaml } from '../helm/yaml.ts';
import type { Family, Sample } from '../support/exposition.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { startMeasuredGateway } from '../support/measured-gateway.ts';
import {
  readChartFile,
  readDashboard,
  readRules,
  type Panel,
} from '../support/monitoring-files.ts';
import { parseQuery, selects, type Selector } from '../support/promql.ts';
import { startMonitoredTraffic } from '../support/monitored-traffic.ts';

/** The labels that Prometheus adds to every series. */
const TARGET_LABELS = new Set(['job', 'instance', 'namespace', 'service', 'pod', 'container']);
/** Metrics of Prometheus and kube-state-metrics, not of the gateway. */
const FOREIGN = new Set(['up', 'kube_pod_container_status_ready']);
const ROOT = join(import.meta.dirname, '../..');

const rules = readRules();
const dashboard = readDashboard();
const alerts = rules.filter(({ alert }) => alert !== undefined);

/** A query and its place. */
type Named = [where: string, query: string];

const inRules: Named[] = rules.map(({ alert, record, expr }) => [alert ?? record ?? '', expr]);
const inDashboard: Named[] = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ refId, expr }): Named => [`${title} ${refId}`, expr]),
  ),
  ...dashboard.annotations.list.map(({ expr }): Named => ['annotation', expr]),
  ...dashboard.templating.list.flatMap(({ name, definition }): Named[] => {
    const query = /^label_values\((.*), \w+\)$/.exec(definition ?? '')?.[1];
    return query === undefined ? [] : [[`variable ${name}`, query]];
  }),
];

/** The names in the chart's other files: its templates and the values of the test deployments. */
const inChart: Named[] = [
  ...readdirSync(join(ROOT, 'helm/agent-gateway/ci')).flatMap((file): Named[] => {
    const values = parseYaml(readChartFile(`ci/${file}`)) as ChartValues;
    const metric = values.autoscaling?.openReads?.metricName;
    return metric ? [[file, metric]] : [];
  }),
  ...[...readChartFile('templates/scaledobject.yaml').matchAll(/\bgateway_\w+/g)].map(
    ([metric]): Named => ['scaledobject.yaml', metric],
  ),
  [
    'values.yaml',
    (parseYaml(readChartFile('values.yaml')) as ChartValues).autoscaling?.openReads?.metricName ??
      '',
  ],
];

interface ChartValues {
  autoscaling?: { openReads?: { metricName?: string } };
}

/** The queries of the pages, in blocks of their own. */
const inPages: Named[] = ['metrics.md', 'alerts.md', 'kubernetes.md'].flatMap((page) => {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8');
  return [...text.matchAll(/^```promql[^\n]*\n(.*?)^```$/gms)].map(([, query = '']): Named => [
    page,
    query,
  ]);
});

const traffic = forAllTests(startMonitoredTraffic);
const gateway = forAllTests(() => startMeasuredGateway(traffic.env));
/** All metrics of a gateway that has served every kind of request. */
let families: Family[];
let samples: Sample[];

beforeAll(async () => {
  await traffic.use(gateway.url);
  await gateway.until('gateway_commands_total', { verb: 'send', outcome: 'accepted' }, 1);
  families = await gateway.metrics();
  samples = families.flatMap((family) => family.samples);
});

describe('every query', () => {
  const recorded = new Set(rules.flatMap(({ record }) => record ?? []));

  const isKnown = ({ metric }: Selector): boolean => FOREIGN.has(metric) || recorded.has(metric);

  it('is found: there are rules, panels, chart values and pages with some', () => {
    expect(inRules.length).toBeGreaterThan(25);
    expect(inDashboard.length).toBeGreaterThan(45);
    expect(inChart.length).toBeGreaterThan(1);
    expect(inPages.length).toBeGreaterThan(0);
  });

  it.each([...inRules, ...inDashboard, ...inChart, ...inPages])(
    'of %s asks for series that a gateway exports, by labels that they have',
    (_, query) => {
      const { selectors, grouping } = parseQuery(query);
      const known = new Set(TARGET_LABELS);
      const named = [...grouping];
      for (const selector of selectors) {
        const ofMetric = samples.filter(({ name }) => name === selector.metric);
        for (const label of ofMetric.flatMap(({ labels }) => Object.keys(labels))) known.add(label);
        if (isKnown(selector)) continue;
        const isExported = ofMetric.some(({ labels }) => selects(selector, labels, TARGET_LABELS));
        expect({ ...selector, isExported }).toEqual({ ...selector, isExported: true });
        named.push(...selector.matchers.map(({ label }) => label));
      }
      expect(named.filter((label) => !known.has(label))).toEqual([]);
    },
  );

  it.each(
    dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.map((target) => [title, target] as const),
    ),
  )('of the panel %s has a legend of labels that it leaves', (_, { expr, legendFormat }) => {
    const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label ?? '');
    const { grouping } = parseQuery(expr);
    const isAggregated = /^(?:sum|min|max|count|histogram_quantile)\b/.test(expr);
    const left = isAggregated ? grouping : [...TARGET_LABELS];
    expect(named.filter((label) => !left.includes(label))).toEqual([]);
  });
});

describe('docs/metrics.md', () => {
  const text = readFileSync(join(ROOT, 'docs/metrics.md'), 'utf8');
  /** Of each row of its tables: name, type and labels. */
  const documented = [
    ...text.matchAll(/^\| `(\w+)` +\| (counter|gauge|histogram) +\| (.*?) +\| .+ \|$/gm),
  ].map(([, name = '', type = '', labels = '']) => ({
    name,
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label).sort(),
  }));
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

  it('lists every metric with its type and labels, and none that is not there', () => {
    const exported = families.map(({ name, type, samples: ofFamily }) => {
      const labels = new Set(ofFamily.flatMap(({ labels: given }) => Object.keys(given)));
      labels.delete('le');
      return { name, type, labels: [...labels].sort() };
    });
    expect(documented.sort(byName)).toEqual(exported.sort(byName));
  });

  it('names every reason, limit, kind, verb and phase that there is from the start on', () => {
    const labels = ['reason', 'limit', 'kind', 'phase', 'when', 'share', 'mode', 'verb'];
    const values = families
      .filter(({ name }) => name.startsWith('gateway_'))
      .flatMap(({ samples: ofFamily }) => ofFamily)
      .flatMap(({ labels: given }) => labels.flatMap((label) => given[label] ?? []));
    expect(values.length).toBeGreaterThan(50);
    expect([...new Set(values)].filter((value) => !text.includes(`\`${value}\``))).toEqual([]);
  });
});

describe('every alert', () => {
  const page = readFileSync(join(ROOT, 'docs/alerts.md'), 'utf8');
  /** What the chart alone has. */
  const inTemplate = [
    ...readChartFile('templates/prometheusrule.yaml').matchAll(/- alert: (\w+)/g),
  ].map(([, name = '']) => name);

  it.each(alerts)('$alert says what is wrong, where, and what to do', (rule) => {
    expect(rule.annotations).toEqual({
      summary: expect.stringMatching(/^[A-Z].*\.$/),
      description: expect.stringMatching(/\.$/),
      runbook_url: `docs/alerts.md#${rule.alert?.toLowerCase()}`,
    });
    expect(['critical', 'warning']).toContain(rule.labels?.severity);
  });

  it('has its own part in docs/alerts.md, and no other has', () => {
    const described = [...page.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name);
    const names = [...new Set(alerts.map(({ alert = '' }) => alert)), ...inTemplate];
    expect(described.sort()).toEqual(names.sort());
  });

  it('is described with panels that the dashboard has', () => {
    const prose = page.replaceAll(/`[^`]*`/g, '');
    const named = [...prose.matchAll(/_([A-Z][^_]+)_/g)].map(([, title = '']) =>
      title.replaceAll(/\s+/g, ' '),
    );
    const titles = dashboard.panels.map(({ title }) => title);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((title) => !titles.includes(title))).toEqual([]);
  });

  it.each(alerts)(
    '$alert is narrowed down to a job, for the chart to narrow it further',
    ({ expr }) => {
      for (const { metric, matchers } of parseQuery(expr).selectors) {
        expect({ metric, job: matchers[0] }).toEqual({
          metric,
          job: { label: 'job', operator: '=', value: 'agent-gateway' },
        });
      }
      // Just so written, as the chart looks for it.
      const selectors = parseQuery(expr).selectors.length;
      expect(expr.split('job="agent-gateway"')).toHaveLength(selectors + 1);
    },
  );
});

describe('the dashboard', () => {
  const panels = dashboard.panels;

  it('has panels that each have an id, a place and a query of their own', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const [index, panel] of panels.entries()) {
      expect(panel.gridPos.x + panel.gridPos.w).toBeLessThanOrEqual(24);
      if (panel.type === 'row') continue;
      expect(panel.targets?.length).toBeGreaterThan(0);
      const others = panels.slice(index + 1).filter((other) => overlaps(panel, other));
      expect(others.map(({ title }) => title)).toEqual([]);
    }
  });

  it('takes the data source that is chosen, and every series of the chosen copies alone', () => {
    for (const { targets = [] } of panels) {
      for (const { datasource, expr } of targets) {
        expect(datasource.uid).toBe('${datasource}');
        for (const { matchers } of parseQuery(expr).selectors) {
          expect(matchers.slice(0, 4)).toEqual([
            { label: 'job', operator: '=', value: '$job' },
            { label: 'namespace', operator: '=~', value: '$namespace' },
            { label: 'service', operator: '=~', value: '$service' },
            { label: 'instance', operator: '=~', value: '$instance' },
          ]);
        }
      }
    }
  });
});

function overlaps({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}
