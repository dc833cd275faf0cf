import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packChart } from '../../tools/release/packages.ts';
import { projectVersion } from '../../tools/release/versions.ts';
import type { Checks } from '../support/checks.ts';
import {
  CHART,
  ciValues,
  environmentIn,
  CI_FILES,
  gatewayIn,
  minimal,
  refusal,
  render,
  type KubernetesObject,
  type Tree,
} from './chart.ts';
import { writeYaml } from './yaml.ts';

const ROOT = join(import.meta.dirname, '../..');
const VERSION = projectVersion(ROOT);
const DIGEST = `sha256:${'4d8a0b7f9b0e'.padEnd(64, '0')}`;
const OTHER = `sha256:${'5'.repeat(64)}`;

/** Checks the chart where it is not the folder of this project: released, in another chart, under odd names. */
export async function checkPackaging(checks: Checks): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'helm-packaging-'));
  try {
    await checkReleased(checks, folder);
    await checkUmbrella(checks, join(folder, 'umbrella'));
  } finally {
    rmSync(folder, { recursive: true });
  }
  // `app.kubernetes.io/instance: 123` is a number, which the API server refuses.
  await checks.check('a release may be called 123', () => {
    for (const file of CI_FILES) {
      for (const object of render(ciValues(file), { name: '123', namespace: '456' })) {
        const { name, namespace, labels = {} } = object.metadata;
        for (const text of [name, namespace ?? '', ...Object.values(labels)]) {
          assert.equal(typeof text, 'string', `${file}: ${object.kind}`);
        }
        // A Service's name begins with a letter, before Kubernetes 1.36.
        if (object.kind === 'Service') assert.match(name, /^agent-gateway-123/);
      }
    }
  });
  // A Service may not have a dot in its name.
  await checks.check('a release may be called a.b', () => {
    for (const file of CI_FILES) {
      for (const { kind, metadata, spec } of render(ciValues(file), {
        name: 'a.b',
        namespace: 'c',
      })) {
        if (['ConfigMap', 'BackendConfig'].includes(kind)) continue;
        assert.match(metadata.name, /^a-b-agent-gateway/, `${file}: ${kind}`);
        assert.doesNotMatch(JSON.stringify(spec ?? {}), /a\.b-agent-gateway/);
      }
    }
  });
  await checkReused(checks);
}

/** What `helm upgrade --reuse-values` does: the values of the last revision's chart in the place of this chart's own. */
async function checkReused(checks: Checks): Promise<void> {
  const chart = mkdtempSync(join(tmpdir(), 'helm-reused-'));
  try {
    cpSync(CHART, chart, { recursive: true });
    cpSync(join(import.meta.dirname, 'values-0.2.0.yaml'), join(chart, 'values.yaml'));
    const objects = (values: Tree, from?: string): KubernetesObject[] =>
      render(minimal(values), undefined, from).map((object) => {
        const { apiVersion, kind, metadata } = object;
        return { apiVersion, kind, metadata: { name: metadata.name } };
      });
    // The schema missed `enabled` and fields of `keda`.
    await checks.check('an upgrade from 0.2.0 may reuse its values', () => {
      const triggers = [{ type: 'cpu', metadata: { value: '60' } }];
      for (const values of [{}, { keda: { enabled: true, triggers } }, EVERYTHING]) {
        assert.deepEqual(objects(values, chart), objects(values));
      }
      const before = render(minimal(), undefined, chart);
      assert.equal(environmentIn(before).get('GATEWAY_RUNTIME_API'), undefined);
    });
  } finally {
    rmSync(chart, { recursive: true });
  }
}

/** Every object that values of 0.2.0 can ask for. */
const EVERYTHING: Tree = {
  ingress: { enabled: true, hosts: ['h.example'], registry: { enabled: true } },
  httpRoute: { enabled: true, parentRefs: [{ name: 'g' }], preset: 'envoy-gateway' },
  networkPolicy: {
    enabled: true,
    clients: [{ podSelector: {} }],
    monitoring: [{ podSelector: {} }],
  },
  autoscaling: { enabled: true },
  serviceMonitor: { enabled: true },
  prometheusRule: { enabled: true },
  dashboard: { enabled: true },
};

async function checkReleased(checks: Checks, folder: string): Promise<void> {
  const chart = join(folder, packChart(ROOT, folder, VERSION, DIGEST, 1_700_000_000));

  // Helm writes the time at which it packs.
  await checks.check('the package has the same bytes again', () => {
    const again = join(folder, 'again');
    mkdirSync(again);
    const other = join(again, packChart(ROOT, again, VERSION, DIGEST, 1_700_000_000));
    assert.ok(readFileSync(chart).equals(readFileSync(other)));
    const times = execFileSync('tar', ['--list', '-v', '--utc', '--file', chart], {
      encoding: 'utf8',
    });
    assert.deepEqual(
      new Set(times.match(/\d{4}-\d\d-\d\d \d\d:\d\d/g)),
      new Set(['2023-11-14 22:13']),
    );
  });
  await checks.check('the package has the values of ci/ as examples', () => {
    const listed = execFileSync('tar', ['--list', '--file', chart], { encoding: 'utf8' }).split(
      '\n',
    );
    const examples = listed.filter((path) => path.startsWith('agent-gateway/examples/'));
    assert.deepEqual(
      examples.sort(),
      CI_FILES.map((file) => `agent-gateway/examples/${file}`).sort(),
    );
  });
  // The released chart's own digest won over a tag, while the labels said the tag.
  await checks.check('the image and its version are those that are asked for', () => {
    const named = (image: Tree, from = CHART): unknown[] => {
      const objects = render(minimal({ image }), undefined, from);
      const labels = objects.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/version']);
      assert.equal(new Set(labels).size, 1);
      return [
        String(gatewayIn(objects).image).replace('registry.example/agent-gateway', ''),
        labels[0],
      ];
    };
    assert.deepEqual(named({}), [`:${VERSION}`, VERSION]);
    assert.deepEqual(named({}, chart), [`@${DIGEST}`, VERSION]);
    for (const from of [CHART, chart]) {
      assert.deepEqual(named({ tag: '1.2.3-rc.1' }, from), [':1.2.3-rc.1', '1.2.3-rc.1']);
      assert.deepEqual(named({ digest: OTHER }, from), [`@${OTHER}`, 'sha256-555555555555']);
      const both = { tag: '1.2.3', digest: OTHER };
      assert.deepEqual(named(both, from), [`:1.2.3@${OTHER}`, '1.2.3']);
    }
    assert.deepEqual(named({ digest: DIGEST }, chart), [`@${DIGEST}`, VERSION]);
  });
  await checks.check('a tag and a digest that contradict each other are refused', () => {
    for (const image of [
      { tag: VERSION, digest: OTHER },
      { tag: '1.2.3', digest: DIGEST },
    ]) {
      assert.match(refusal(minimal({ image }), chart), /which are not the same image/);
    }
    render(minimal({ image: { tag: VERSION, digest: DIGEST } }), undefined, chart);
  });
}

async function checkUmbrella(checks: Checks, chart: string): Promise<void> {
  mkdirSync(join(chart, 'charts'), { recursive: true });
  cpSync(CHART, join(chart, 'charts/agent-gateway'), { recursive: true });
  const dependency = { name: 'agent-gateway', version: '*', condition: 'agent-gateway.enabled' };
  const description = { apiVersion: 'v2', name: 'system', version: '1.0.0' };
  const dependencies = [
    dependency,
    { ...dependency, alias: 'second', condition: 'second.enabled' },
  ];
  writeFileSync(join(chart, 'Chart.yaml'), writeYaml({ ...description, dependencies }));

  // The schema refused `enabled`.
  await checks.check('a chart that has this one as a dependency switches it on and off', () => {
    const installed = (first: boolean, second: boolean): KubernetesObject[] =>
      render(
        {
          global: { imageRegistry: 'mirror.example', storageClass: 'fast' },
          'agent-gateway': minimal({ enabled: first }),
          second: minimal({ enabled: second }),
        },
        undefined,
        chart,
      );
    const named = (objects: KubernetesObject[]): string[] =>
      objects.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name);
    assert.deepEqual(named(installed(true, true)).sort(), ['gw-agent-gateway', 'gw-second']);
    assert.deepEqual(named(installed(false, true)), ['gw-second']);
    assert.deepEqual(installed(false, false), []);
  });
}
