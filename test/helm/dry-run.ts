import assert from 'node:assert/strict';
import { ApiServer, type ApiAnswer } from './api-server.ts';
import {
  at,
  ciValues,
  CI_FILES,
  minimal,
  RELEASE,
  render,
  type KubernetesObject,
} from './chart.ts';
import type { Checks } from '../support/checks.ts';
import { report } from './report.ts';
import { podSpecs } from './pod-security.ts';
import { customResources } from './schemas.ts';

/** GKE's Ingress controller reads this annotation alone. */
const EXPECTED_WARNING = /annotation \\?"kubernetes\.io\/ingress\.class\\?" is deprecated/;

const NAMESPACE = `/api/v1/namespaces/${RELEASE.namespace}`;

/**
 * Applies every deployment to a real API server, as a server-side dry run with strict validation, into
 * a namespace that enforces the restricted Pod Security profile. Where there is no API server it says
 * how to get one and checks nothing.
 */
export async function checkDryRun(checks: Checks): Promise<void> {
  if (!ApiServer.isAvailable()) {
    report('  --    no dry run by a real API server: see test/helm/get-api-server.sh');
    return;
  }
  const server = await ApiServer.start();
  try {
    await prepare(server);
    for (const file of CI_FILES) {
      const objects = render(ciValues(file));
      await checks.check(`${file} is taken by a real API server, without a warning`, async () => {
        for (const object of objects) {
          const { status, body, warnings } = await apply(server, object);
          assert.ok(status === 200 || status === 201, `${object.kind}: ${status} ${body}`);
          const unexpected = warnings.filter((text) => !EXPECTED_WARNING.test(text));
          assert.deepEqual(unexpected, [], object.kind);
        }
      });
      await checks.check(`the pods of ${file} are let into a restricted namespace`, async () => {
        for (const [name, spec] of podSpecs(objects)) {
          const { status, body } = await createPod(server, spec);
          assert.equal(status, 201, `${name}: ${body}`);
        }
      });
    }
    await checkRefusals(checks, server);
  } finally {
    await server.stop();
  }
}

/** Checks that the server refuses wrong objects, or the other checks would prove nothing. */
async function checkRefusals(checks: Checks, server: ApiServer): Promise<void> {
  await checks.check('the API server refuses an unknown field', async () => {
    const wrong = minimal({ extraContainers: [{ name: 'x', image: 'y', imgae: 'z' }] });
    const objects = render(wrong).filter(({ kind }) => kind === 'Deployment');
    assert.equal(objects.length, 1);
    for (const object of objects) {
      const { status, body } = await apply(server, object);
      assert.ok(status >= 400);
      assert.match(body, /imgae/);
    }
  });
  await checks.check('the restricted namespace refuses a pod with privileges', async () => {
    const wrong = minimal({
      containerSecurityContext: { allowPrivilegeEscalation: true },
    });
    const [[, spec] = []] = podSpecs(render(wrong));
    const { status, body } = await createPod(server, spec);
    assert.equal(status, 403);
    assert.match(body, /violates PodSecurity/);
  });
}

async function prepare(server: ApiServer): Promise<void> {
  await prepareCluster(server);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: RELEASE.namespace, labels },
  };
  await made(server.call('POST', '/api/v1/namespaces', namespace));
}

/** The definitions of all custom resources, and the priority class of the deployments. */
export async function prepareCluster(server: ApiServer): Promise<void> {
  const priority = { metadata: { name: 'front-door' }, value: 1000 };
  await made(server.call('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', priority));
  const definitions = new Set(customResources().map(({ definition }) => definition));
  for (const definition of definitions) {
    await made(
      server.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition),
    );
  }
  for (const { group, version, kind } of customResources()) {
    const path = `/apis/${group}/${version}/${plural(kind)}`;
    // Served a moment after it is made.
    while ((await server.call('GET', path)).status !== 200) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function made(call: Promise<ApiAnswer>): Promise<void> {
  const { status, body } = await call;
  assert.equal(status, 201, body);
}

function apply(server: ApiServer, object: KubernetesObject): Promise<ApiAnswer> {
  const { apiVersion, kind, metadata } = object;
  const api = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const query = 'fieldManager=helm-test&dryRun=All&fieldValidation=Strict&force=true';
  const path = `${api}/namespaces/${RELEASE.namespace}/${plural(kind)}/${metadata.name}?${query}`;
  return server.call('PATCH', path, object, 'application/apply-patch+yaml');
}

function createPod(server: ApiServer, spec: unknown): Promise<ApiAnswer> {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' }, spec };
  assert.ok(at(pod, 'spec.containers'));
  return server.call('POST', `${NAMESPACE}/pods?dryRun=All&fieldValidation=Strict`, pod);
}

/** The name of a kind in a path. */
function plural(kind: string): string {
  return `${kind.toLowerCase().replace(/s$/, 'se').replace(/y$/, 'ie')}s`;
}
