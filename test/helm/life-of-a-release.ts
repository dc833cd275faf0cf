import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { ApiServer } from './api-server.ts';
import { startApiServerStub } from './api-server-stub.ts';
import { CHART, KUBERNETES_VERSION, RELEASE } from './chart.ts';
import type { Checks } from '../support/checks.ts';
import { findTool, type Outcome } from './tools.ts';

const NAMESPACE = RELEASE.namespace;
/** The stub has no schemas, and the dry run of the suite checks them. */
const VALUES = [
  `--values=${join(CHART, 'ci/minimal-values.yaml')}`,
  '--disable-openapi-validation',
];
const SCALED = '--set=autoscaling.enabled=true';

interface Cluster {
  /** By which Helm reaches it. */
  flags: string[];
  /** Asks the API server, and returns the body of its answer. */
  call(method: string, path: string, body?: unknown, type?: string): Promise<string>;
}

/** What an operator does with a release, and what an HPA does. */
class Operator {
  private readonly cluster: Cluster;

  constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  /** Runs Helm in no cluster but the test's. */
  helm(...args: string[]): Promise<Outcome> {
    const all = [...args, ...this.cluster.flags, `--namespace=${NAMESPACE}`];
    const env = { ...process.env, KUBECONFIG: '/dev/null' };
    return new Promise((resolve) => {
      const child = execFile(findTool('helm') ?? 'helm', all, { env }, (_, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      );
    });
  }

  async done(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.helm(...args);
    assert.equal(code, 0, stderr);
    return stdout;
  }

  async copies(release: string): Promise<unknown> {
    const body = await this.cluster.call('GET', deployment(release));
    return (JSON.parse(body) as { spec: { replicas: number } }).spec.replicas;
  }

  async scale(release: string, replicas: number): Promise<void> {
    const type = 'application/merge-patch+json';
    await this.cluster.call('PATCH', deployment(release), { spec: { replicas } }, type);
  }

  /** `kubectl delete secret -l owner=helm,name=…` */
  async forget(release: string): Promise<void> {
    const path = `/api/v1/namespaces/${NAMESPACE}/secrets`;
    const selector = encodeURIComponent(`owner=helm,name=${release}`);
    const body = await this.cluster.call('GET', `${path}?labelSelector=${selector}`);
    const { items } = JSON.parse(body) as { items: { metadata: { name: string } }[] };
    assert.ok(items.length > 0);
    for (const { metadata } of items) await this.cluster.call('DELETE', `${path}/${metadata.name}`);
  }
}

function deployment(release: string): string {
  return `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${release}-agent-gateway`;
}

/** Install, scale, upgrade, rollback: against a stub always, and against a real API server where there is one. */
export async function checkLifeOfARelease(checks: Checks): Promise<void> {
  const stub = await startApiServerStub(KUBERNETES_VERSION);
  try {
    await play(checks, 'a stub', new Operator(stub));
  } finally {
    await stub.stop();
  }
  if (!ApiServer.isAvailable()) return;
  const server = await ApiServer.start();
  try {
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
    const call: Cluster['call'] = async (...what) => (await server.call(...what)).body;
    await play(checks, 'a real API server', new Operator({ flags: server.flags, call }));
  } finally {
    await server.stop();
  }
}

async function play(checks: Checks, where: string, operator: Operator): Promise<void> {
  // The count of the moment stood in each revision: a rollback took twelve copies to three, one to the first revision
  // to one.
  await checks.check(
    `no upgrade and no rollback changes what a scaler has set (${where})`,
    async () => {
      await operator.done('install', 'gw', CHART, ...VALUES, SCALED);
      await operator.scale('gw', 3);
      await operator.done('upgrade', 'gw', CHART, ...VALUES, SCALED, '--set=image.tag=v2');
      assert.equal(await operator.copies('gw'), 3);
      await operator.scale('gw', 12);
      await operator.done('upgrade', 'gw', CHART, ...VALUES, SCALED, '--set=image.tag=v3');
      assert.equal(await operator.copies('gw'), 12);
      for (const revision of ['2', '1']) {
        await operator.done('rollback', 'gw', revision);
        assert.equal(await operator.copies('gw'), 12, `after the rollback to ${revision}`);
      }
      for (const revision of ['1', '2', '3', '4', '5']) {
        const manifest = await operator.done('get', 'manifest', 'gw', `--revision=${revision}`);
        assert.doesNotMatch(manifest, /^ +replicas:/m);
      }
    },
  );
  // Helm removes the number that the last revision had, and Kubernetes makes that one copy.
  await checks.check(
    `an upgrade that would stop all copies but one is refused (${where})`,
    async () => {
      await operator.done('install', 'fixed', CHART, ...VALUES, '--set=replicaCount=5');
      const { code, stderr } = await operator.helm('upgrade', 'fixed', CHART, ...VALUES, SCALED);
      assert.equal(code, 1);
      assert.match(stderr, /5 copies run, and this upgrade would stop all but one/);
      assert.equal(await operator.copies('fixed'), 5);
    },
  );
  await checks.check(
    `a scaler switched on by docs/kubernetes.md keeps every copy (${where})`,
    async () => {
      await operator.forget('fixed');
      await operator.done('upgrade', '--install', 'fixed', CHART, ...VALUES, SCALED);
      assert.equal(await operator.copies('fixed'), 5);
      await operator.done('upgrade', 'fixed', CHART, ...VALUES, SCALED, '--set=image.tag=v2');
      await operator.done('rollback', 'fixed', '1');
      assert.equal(await operator.copies('fixed'), 5);
    },
  );
}
