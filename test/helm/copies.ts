import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import {
  at,
  CHART,
  ciValues,
  KUBERNETES_VERSION,
  minimal,
  objectOf,
  render,
  type KubernetesObject,
  type Tree,
} from './chart.ts';
import type { Checks } from '../support/checks.ts';
import { findTool } from './tools.ts';
import { parseYamlDocuments } from './yaml.ts';

/** Checks what the chart does about the number of copies, with a scaler and without. */
export async function checkCopies(checks: Checks): Promise<void> {
  await checks.check('one copy has no PodDisruptionBudget', () => {
    const objects = render(minimal({ replicaCount: 1 }));
    assert.ok(!objects.some(({ kind }) => kind === 'PodDisruptionBudget'));
  });
  for (const file of ['production-values.yaml', 'keda-values.yaml']) {
    await checks.check(`${file} leaves the number of copies to its scaler`, () => {
      assert.equal(at(deploymentIn(render(ciValues(file))), 'spec.replicas'), undefined);
    });
  }
  // The count of the moment stood in each revision: a rollback took twelve copies to three, one to the first revision
  // to one.
  await checks.check('no upgrade names a number of copies that a scaler has set', async () => {
    const found = await scaledAbove(12, { 'agent-gateway/copies': 'scaled' }, '--is-upgrade');
    assert.equal(at(found, 'spec.replicas'), undefined);
    assert.deepEqual(at(found, 'metadata.annotations'), { 'agent-gateway/copies': 'scaled' });
  });
  // Helm removes the number that the last revision had, and Kubernetes makes that one copy.
  await checks.check('an upgrade that would stop all copies but one is refused', async () => {
    const says = /5 copies run, and this upgrade would stop all but one/;
    await assert.rejects(scaledAbove(5, {}, '--is-upgrade'), says);
  });
  // A scaler was switched off, and Helm took eleven copies to the two of the values.
  await checks.check('an upgrade that takes a scaler and its copies away is refused', async () => {
    const upgraded = (...flags: string[]): Promise<KubernetesObject> =>
      renderedAbove(11, { 'agent-gateway/copies': 'scaled' }, '--is-upgrade', ...flags);
    const says = /11 copies run, as a scaler set them, .* leave 2\. Set replicaCount to 11/;
    await assert.rejects(upgraded(), says);
    const found = await upgraded('--set=replicaCount=11');
    assert.equal(at(found, 'spec.replicas'), 11);
    assert.equal(at(found, 'metadata.annotations'), undefined);
  });
  await checks.check('without a scaler a release takes any number of copies', async () => {
    assert.equal(at(await renderedAbove(11, {}, '--is-upgrade'), 'spec.replicas'), 2);
  });
  await checks.check('a scaler switched on by docs/kubernetes.md keeps every copy', async () => {
    // Helm has been made to forget the release, and installs it again.
    const found = await scaledAbove(5, {});
    assert.equal(at(found, 'spec.replicas'), undefined);
  });
}

function deploymentIn(objects: KubernetesObject[]): KubernetesObject {
  return objectOf(objects, 'Deployment');
}

function scaledAbove(replicas: number, annotations: Tree, ...flags: string[]) {
  return renderedAbove(replicas, annotations, '--set=autoscaling.enabled=true', ...flags);
}

/** The Deployment of minimal values, rendered where there is one already with these copies. */
async function renderedAbove(
  replicas: number,
  annotations: Tree,
  ...flags: string[]
): Promise<KubernetesObject> {
  const apis = '/apis/apps/v1';
  const kind = { name: 'deployments', namespaced: true, kind: 'Deployment', verbs: ['get'] };
  const answers: Record<string, Tree> = {
    [apis]: { kind: 'APIResourceList', groupVersion: 'apps/v1', resources: [kind] },
    [`${apis}/namespaces/agents/deployments/gw-agent-gateway`]: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'gw-agent-gateway', annotations },
      spec: { replicas },
    },
  };
  const asked: string[] = [];
  const server = await startScriptedUpstream(({ url = '' }, response) => {
    const [path = ''] = url.split('?');
    asked.push(path);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answers[path]));
  });
  try {
    const { stdout } = await promisify(execFile)(
      findTool('helm') ?? 'helm',
      [
        'template',
        'gw',
        CHART,
        '--namespace=agents',
        `--kube-version=${KUBERNETES_VERSION}`,
        `--values=${join(CHART, 'ci/minimal-values.yaml')}`,
        '--dry-run=server',
        `--kube-apiserver=${server.url}`,
        ...flags,
      ],
      { env: { ...process.env, KUBECONFIG: '/dev/null' } },
    );
    // Without the look, nothing would be refused.
    assert.deepEqual(new Set(asked), new Set(Object.keys(answers)));
    return deploymentIn(parseYamlDocuments(stdout) as KubernetesObject[]);
  } finally {
    await server.stop();
  }
}
