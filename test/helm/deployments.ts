import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  at,
  CHART,
  ciValues,
  CI_FILES,
  KUBERNETES_VERSION,
  objectOf,
  RELEASE,
  render,
  type KubernetesObject,
} from './chart.ts';
import type { Checks } from '../support/checks.ts';
import { runTool } from './tools.ts';

const BASICS = ['ServiceAccount', 'Service', 'Service', 'Deployment', 'Pod', 'PodDisruptionBudget'];
const TENANT = [
  'HTTPRoute',
  'BackendTrafficPolicy',
  'NetworkPolicy',
  'ServiceMonitor',
  'PrometheusRule',
];
/** The objects that each supported deployment has, beyond the basics. */
const KINDS: Record<string, string[]> = {
  'minimal-values.yaml': ['Secret'],
  'cluster-values.yaml': ['Secret'],
  'ingress-values.yaml': ['Secret', 'Ingress', 'Ingress', 'ServersTransport'],
  'httproute-values.yaml': ['Secret', 'HTTPRoute', 'HTTPRoute', 'BackendTrafficPolicy'],
  'keda-values.yaml': ['Secret', 'ScaledObject'],
  'production-values.yaml': [...TENANT, 'HorizontalPodAutoscaler', 'ConfigMap', 'ConfigMap'],
  'gke-values.yaml': ['Ingress', 'BackendConfig'],
  'eks-values.yaml': ['Ingress'],
  'eks-nlb-values.yaml': [],
  'aks-values.yaml': ['Ingress'],
  'openshift-values.yaml': ['Ingress', 'NetworkPolicy', 'ServiceMonitor', 'PrometheusRule'],
  'tenant-acme-values.yaml': TENANT,
  'tenant-globex-values.yaml': TENANT,
};
/** Objects that the chart renders without a namespace, because the operator supplies them whole. */
const AS_GIVEN = ['ConfigMap'];

/** Checks each deployment of `ci/` as a whole, and the relations between its objects. */
export async function checkDeployments(checks: Checks): Promise<void> {
  await checks.check('every file of ci/ is tested, and every test has its file', () =>
    assert.deepEqual(Object.keys(KINDS).sort(), [...CI_FILES].sort()),
  );
  for (const [file, kinds] of Object.entries(KINDS)) {
    await checks.check(`${file} passes helm lint --strict`, () => {
      const { code, stdout, stderr } = runTool('helm', [
        'lint',
        '--strict',
        CHART,
        `--kube-version=${KUBERNETES_VERSION}`,
        `--values=${join(CHART, 'ci', file)}`,
      ]);
      assert.equal(code, 0, stdout + stderr);
    });
    const objects = render(ciValues(file));
    await checks.check(`${file} makes its objects, in the release's namespace`, () => {
      assert.deepEqual(objects.map(({ kind }) => kind).sort(), [...BASICS, ...kinds].sort());
      for (const { kind, metadata } of objects.filter((one) => !AS_GIVEN.includes(one.kind))) {
        assert.equal(metadata.namespace, RELEASE.namespace, kind);
      }
    });
    await checks.check(`${file} selects its own pods by every selector`, () =>
      assertSelectors(objects),
    );
  }
  await checkTenants(checks);
}

/** Every selector must find the pods of the Deployment, and those of the test never. */
function assertSelectors(objects: KubernetesObject[]): void {
  const pods = at(objectOf(objects, 'Deployment'), 'spec.template.metadata.labels') as Labels;
  const test = objectOf(objects, 'Pod').metadata.labels ?? {};
  const selectors = objects.flatMap((object): Labels[] => {
    if (object.kind === 'Service') return [at(object, 'spec.selector') as Labels];
    if (object.kind === 'NetworkPolicy')
      return [at(object, 'spec.podSelector.matchLabels') as Labels];
    if (['Deployment', 'PodDisruptionBudget'].includes(object.kind)) {
      return [at(object, 'spec.selector.matchLabels') as Labels];
    }
    return [];
  });
  assert.ok(selectors.length >= 3);
  for (const selector of selectors) {
    assert.ok(matches(selector, pods));
    assert.ok(!matches(selector, test));
  }
}

type Labels = Record<string, string>;

const matches = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);

async function checkTenants(checks: Checks): Promise<void> {
  const release = (name: string): KubernetesObject[] =>
    render(ciValues(`tenant-${name}-values.yaml`), { name, namespace: 'agents' });
  const [acme, globex] = [release('acme'), release('globex')];

  await checks.check('two releases in one namespace share no object', () => {
    const names = [...acme, ...globex].map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    assert.equal(new Set(names).size, names.length);
  });
  await checks.check('two releases in one namespace select none of the other one’s pods', () => {
    const pods = at(objectOf(globex, 'Deployment'), 'spec.template.metadata.labels') as Labels;
    for (const service of acme.filter(({ kind }) => kind === 'Service')) {
      assert.ok(!matches(at(service, 'spec.selector') as Labels, pods));
    }
  });
  await checks.check('a ServiceMonitor finds exactly one Service, its own release’s', () => {
    const selector = at(objectOf(acme, 'ServiceMonitor'), 'spec.selector.matchLabels') as Labels;
    const found = [...acme, ...globex].filter(
      ({ kind, metadata }) => kind === 'Service' && matches(selector, metadata.labels ?? {}),
    );
    assert.deepEqual(
      found.map(({ metadata }) => metadata.name),
      ['acme-agent-gateway-management'],
    );
  });
}
