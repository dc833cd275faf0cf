/**
 * The chart in a real Kubernetes API server, by Helm 3 and Helm 4: `npm run test:cluster`. Needs Linux and Go, and etcd or root; not a
 * part of CI, because the API server is built the first time.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { at, CHART, ciValues, CI_FILES, minimal, type Tree } from '../helm/chart.ts';
import { FIELDS } from '../helm/conformance.ts';
import { checkDryRun } from '../helm/dry-run.ts';
import { Checks } from '../support/checks.ts';
import { Cluster } from './cluster.ts';
import { findOrBuild } from './tools.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The last commit with the version 0.2.0 of the chart. */
const COMMIT_OF_0_2_0 = 'bcbb74f';
const SCALED: Tree = { autoscaling: { enabled: true } };

/** The kinds whose objects must go with a release. */
const KINDS = [
  'api/v1/@/services',
  'api/v1/@/secrets',
  'api/v1/@/serviceaccounts',
  'api/v1/@/configmaps',
  'api/v1/@/pods',
  'apis/apps/v1/@/deployments',
  'apis/policy/v1/@/poddisruptionbudgets',
  'apis/networking.k8s.io/v1/@/ingresses',
  'apis/networking.k8s.io/v1/@/networkpolicies',
  'apis/gateway.networking.k8s.io/v1/@/httproutes',
  'apis/monitoring.coreos.com/v1/@/servicemonitors',
];

const checks = new Checks();
const helms = findOrBuild();
const old = mkdtempSync(join(tmpdir(), 'chart-0.2.0-'));
const chartOf = 'helm/agent-gateway';
execFileSync('bash', ['-c', `git archive ${COMMIT_OF_0_2_0} ${chartOf} | tar -x -C ${old}`], {
  cwd: ROOT,
});
try {
  await checkDryRun(checks);
  for (const [version, path] of Object.entries(helms)) {
    checks.section(version);
    const server = await Cluster.start();
    const cluster = new Cluster(server, path, version);
    try {
      await checkPresets(cluster);
      await checkTest(cluster);
      await checkFrom020(cluster);
      await checkCopies(cluster);
      await checkSecret(cluster);
    } finally {
      cluster.close();
      await server.stop();
    }
  }
} finally {
  rmSync(old, { recursive: true });
}
checks.finish();

function deploymentPath(namespace: string, name = 'gw-agent-gateway'): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
}

async function replicasOf(cluster: Cluster, namespace: string): Promise<unknown> {
  return at(await cluster.get(deploymentPath(namespace)), 'spec.replicas');
}

async function objectsIn(cluster: Cluster, namespace: string): Promise<string[]> {
  const found: string[] = [];
  for (const kind of KINDS) {
    const list = await cluster.get(`/${kind.replace('@', `namespaces/${namespace}`)}`);
    for (const item of at(list, 'items') as Tree[])
      found.push(`${kind} ${String(at(item, 'metadata.name'))}`);
  }
  return found;
}

/** Installs, upgrades, rolls back and removes a release of each deployment. */
async function checkPresets(cluster: Cluster): Promise<void> {
  const presets: [string, Tree][] = CI_FILES.map((file) => [file, ciValues(file)]);
  for (const [file, values] of [...presets, ['further fields', minimal(FIELDS)] as const]) {
    await checks.check(`${file}: installed, upgraded, rolled back, removed`, async () => {
      const namespace = await cluster.namespace(file.replace(/-values\.yaml$| /g, ''));
      const inNamespace = ['--namespace', namespace];
      const image = async (): Promise<unknown> =>
        at(await cluster.get(deploymentPath(namespace)), 'spec.template.spec.containers.0.image');
      await cluster.done(['install', 'gw', CHART, ...inNamespace], values);
      const first = await image();
      await cluster.done(['upgrade', 'gw', CHART, ...inNamespace], values);
      assert.equal(await image(), first);
      const next = ['--set=image.tag=9.9.9', '--set=image.digest='];
      await cluster.done(['upgrade', 'gw', CHART, ...inNamespace, ...next], values);
      assert.equal(await image(), 'registry.example/agent-gateway:9.9.9');
      await cluster.done(['rollback', 'gw', '1', ...inNamespace]);
      assert.equal(await image(), first);
      await cluster.done(['uninstall', 'gw', ...inNamespace]);
      assert.deepEqual(await objectsIn(cluster, namespace), []);
    });
  }
  await checks.check('a release may be called a.b', async () => {
    const namespace = await cluster.namespace('dotted');
    await cluster.done(['install', 'a.b', CHART, '--namespace', namespace], minimal());
    assert.ok(await cluster.get(deploymentPath(namespace, 'a-b-agent-gateway')));
  });
}

async function checkTest(cluster: Cluster): Promise<void> {
  for (const [phase, code] of [
    ['Succeeded', 0],
    ['Failed', 1],
  ] as const) {
    await checks.check(
      `helm test of a pod that has ${phase.toLowerCase()} leaves none`,
      async () => {
        const namespace = await cluster.namespace(`test-${phase.toLowerCase()}`);
        await cluster.done(['install', 'gw', CHART, '--namespace', namespace], minimal());
        const run = cluster.helm(['test', 'gw', '--namespace', namespace]);
        await cluster.endPods(namespace, phase, run);
        const said = await run;
        assert.equal(said.code, code, said.output);
        assert.match(said.output, new RegExp(`Phase: +${phase}`));
        assert.deepEqual(
          (await objectsIn(cluster, namespace)).filter((object) => object.includes('/pods ')),
          [],
        );
      },
    );
  }
}

async function checkFrom020(cluster: Cluster): Promise<void> {
  for (const flag of ['--reuse-values', '--reset-then-reuse-values']) {
    await checks.check(`an upgrade from 0.2.0 with ${flag}, and back`, async () => {
      const namespace = await cluster.namespace(`from${flag}`);
      const inNamespace = ['--namespace', namespace];
      await cluster.done(['install', 'gw', join(old, chartOf), ...inNamespace], minimal());
      await cluster.done(['upgrade', 'gw', CHART, flag, ...inNamespace]);
      assert.equal(await replicasOf(cluster, namespace), 2);
      await cluster.done(['rollback', 'gw', '1', ...inNamespace]);
    });
  }
}

async function checkCopies(cluster: Cluster): Promise<void> {
  const namespace = await cluster.namespace('copies');
  const release = ['gw', CHART, '--namespace', namespace];
  const upgrade = (values: Tree, ...flags: string[]): ReturnType<Cluster['helm']> =>
    cluster.helm(['upgrade', ...release, ...flags], minimal(values));
  await checks.check('what a scaler has set stays in upgrades and rollbacks', async () => {
    await cluster.done(['install', ...release], minimal(SCALED));
    await cluster.scale(namespace, 'gw-agent-gateway', 11);
    assert.equal((await upgrade(SCALED, '--set=image.tag=two')).code, 0);
    await cluster.done(['rollback', 'gw', '1', '--namespace', namespace]);
    assert.equal(await replicasOf(cluster, namespace), 11);
  });
  await checks.check(
    'a scaler is switched off with the copies that run, or not at all',
    async () => {
      const refused = await upgrade({});
      assert.equal(refused.code, 1);
      assert.match(
        refused.output,
        /11 copies run, as a scaler set them, .* Set replicaCount to 11/,
      );
      assert.equal(await replicasOf(cluster, namespace), 11);
      const taken = await upgrade({ replicaCount: 11 });
      assert.equal(taken.code, 0, taken.output);
      assert.equal(await replicasOf(cluster, namespace), 11);
    },
  );
  await checks.check('a scaler switched on without the steps is refused', async () => {
    const { code, output } = await upgrade(SCALED);
    assert.equal(code, 1);
    assert.match(output, /11 copies run, and this upgrade would stop all but one/);
  });
  await checks.check(
    'after kubectl scale another number is taken, by Helm 4 with --force-conflicts',
    async () => {
      const own = await cluster.namespace('scaled-by-hand');
      const other = ['gw', CHART, '--namespace', own];
      await cluster.done(['install', ...other], minimal());
      await cluster.scale(own, 'gw-agent-gateway', 6);
      const plain = await cluster.helm(['upgrade', ...other], minimal({ replicaCount: 4 }));
      if (cluster.helmVersion === 'Helm 4') {
        assert.equal(plain.code, 1);
        assert.match(plain.output, /conflict.*\.spec\.replicas/s);
        await cluster.done(
          ['upgrade', ...other, '--force-conflicts'],
          minimal({ replicaCount: 4 }),
        );
      } else {
        assert.equal(plain.code, 0, plain.output);
      }
      assert.equal(await replicasOf(cluster, own), 4);
    },
  );
}

async function checkSecret(cluster: Cluster): Promise<void> {
  await checks.check(
    "the chart's own Secret is not deleted by an upgrade that names it",
    async () => {
      const namespace = await cluster.namespace('secret');
      const release = ['gw', CHART, '--namespace', namespace];
      await cluster.done(['install', ...release], minimal());
      const secrets = { apiKeys: [], existingSecret: 'gw-agent-gateway' };
      const { code, output } = await cluster.helm(['upgrade', ...release], minimal({ secrets }));
      assert.equal(code, 1);
      assert.match(output, /secrets\.existingSecret is gw-agent-gateway/);
      const path = `/api/v1/namespaces/${namespace}/secrets/gw-agent-gateway`;
      assert.ok(await cluster.get(path));
      const fresh = { apiKeys: [], existingSecret: 'gateway-keys' };
      await cluster.done(['upgrade', ...release], minimal({ secrets: fresh }));
      assert.equal(await cluster.get(path), undefined);
    },
  );
}
