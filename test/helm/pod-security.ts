import assert from 'node:assert/strict';
import { at, ciValues, CI_FILES, render, type KubernetesObject, type Tree } from './chart.ts';
import type { Checks } from '../support/checks.ts';

/** The path of the pod's spec in each kind of workload. */
const POD_PATHS: Record<string, string> = { Pod: 'spec', Deployment: 'spec.template.spec' };
const ALLOWED_VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

/** The pods' specs of all workloads, by kind and name. */
export function podSpecs(objects: KubernetesObject[]): [string, Tree][] {
  return objects.flatMap((object): [string, Tree][] => {
    const path = POD_PATHS[object.kind];
    return path ? [[`${object.kind} ${object.metadata.name}`, at(object, path) as Tree]] : [];
  });
}

/**
 * The restricted profile of the Pod Security Standards, field by field
 * (https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted), and what the
 * chart promises beyond it.
 */
export async function checkPodSecurity(checks: Checks): Promise<void> {
  for (const file of CI_FILES) {
    for (const [name, spec] of podSpecs(render(ciValues(file)))) {
      await checks.check(`${name} of ${file} keeps to the restricted profile`, () =>
        assertRestricted(spec, file === 'openshift-values.yaml' ? undefined : 10_001),
      );
    }
  }
}

/** The user is undefined where the cluster chooses it. */
function assertRestricted(spec: Tree, user: number | undefined): void {
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC', 'hostUsers']) {
    assert.equal(spec[field], undefined, field);
  }
  assert.deepEqual(at(spec, 'securityContext.seccompProfile'), { type: 'RuntimeDefault' });
  assert.equal(at(spec, 'securityContext.runAsNonRoot'), true);
  for (const id of ['runAsUser', 'runAsGroup', 'fsGroup']) {
    assert.equal(at(spec, `securityContext.${id}`), user, id);
  }
  for (const field of ['sysctls', 'seLinuxOptions', 'windowsOptions', 'appArmorProfile']) {
    assert.equal(at(spec, `securityContext.${field}`), undefined, field);
  }
  for (const volume of (spec.volumes ?? []) as Tree[]) {
    const kinds = Object.keys(volume).filter((key) => key !== 'name');
    assert.equal(kinds.length, 1);
    assert.ok(ALLOWED_VOLUMES.includes(kinds[0] ?? ''), `volume ${String(volume.name)}`);
  }
  const containers = [...((spec.initContainers ?? []) as Tree[]), ...(spec.containers as Tree[])];
  for (const container of containers) {
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
    });
    for (const port of (container.ports ?? []) as Tree[]) assert.equal(port.hostPort, undefined);
    assert.notEqual(at(container, 'resources.requests.memory'), undefined);
    assert.notEqual(at(container, 'resources.limits.memory'), undefined);
  }
  // Beyond the profile.
  assert.equal(spec.automountServiceAccountToken, false);
  assert.equal(spec.enableServiceLinks, false);
}
