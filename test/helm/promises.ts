import assert from 'node:assert/strict';
import {
  at,
  ciValues,
  CI_FILES,
  DEFAULT_VALUES,
  notes,
  objectOf,
  overlay,
  render,
  type Tree,
} from './chart.ts';
import type { Checks } from '../support/checks.ts';

const POD = 'spec.template.spec';

/** Checks what the chart promises operators: a drain in time, rotation, and proxies that allow long reads. */
export async function checkPromises(checks: Checks): Promise<void> {
  await checkGrace(checks);
  await checkRotation(checks);
  await checkDoors(checks);
  await checkNotes(checks);
}

async function checkGrace(checks: Checks): Promise<void> {
  await checks.check(
    'by default a pod has the time for preStop and drain, and some to spare',
    () => {
      const { preStopSleepSeconds, terminationGracePeriodSeconds } = DEFAULT_VALUES;
      const drainMs = Number(at(DEFAULT_VALUES, 'settings.drainTimeoutMs'));
      assert.ok(
        Number(terminationGracePeriodSeconds) > Number(preStopSleepSeconds) + drainMs / 1_000,
      );
    },
  );
  await checks.check('liveness and startup ask the process alone, readiness the drain', () => {
    const container = at(
      objectOf(render(ciValues('minimal-values.yaml')), 'Deployment'),
      'spec.template.spec.containers.0',
    );
    const path = (probe: string): unknown => at(container, `${probe}Probe.httpGet`);
    assert.deepEqual(path('liveness'), { path: '/health/live', port: 'management' });
    assert.deepEqual(path('startup'), { path: '/health/live', port: 'management' });
    assert.deepEqual(path('readiness'), { path: '/health/ready', port: 'management' });
  });
  await checks.check('no preStop sleep leaves the hook out', () => {
    const values = overlay(ciValues('minimal-values.yaml'), { preStopSleepSeconds: 0 });
    const container = at(
      objectOf(render(values), 'Deployment'),
      'spec.template.spec.containers.0',
    ) as Tree;
    assert.equal(container.lifecycle, undefined);
  });
  await checks.check('one copy has no PodDisruptionBudget', () => {
    const one = overlay(ciValues('minimal-values.yaml'), { replicaCount: 1 });
    assert.ok(!render(one).some(({ kind }) => kind === 'PodDisruptionBudget'));
  });
  for (const file of ['production-values.yaml', 'keda-values.yaml']) {
    await checks.check(`${file} leaves the number of copies to its scaler`, () => {
      const deployment = objectOf(render(ciValues(file)), 'Deployment');
      assert.equal(at(deployment, 'spec.replicas'), undefined);
    });
  }
}

async function checkRotation(checks: Checks): Promise<void> {
  const minimal = ciValues('minimal-values.yaml');
  await checks.check('no new secret makes new pods: the gateway reads its file again', () => {
    const first = {
      apiKeys: ['a-key-0123456789abcdef'],
      readTokenSecrets: ['s'.repeat(32)],
      runtimeIngressToken: 'first',
      runtimeAdminToken: 'first',
      historyToken: 'first',
      syncSecret: 'first',
    };
    const second = {
      apiKeys: ['another-key-0123456789'],
      readTokenSecrets: ['t'.repeat(32)],
      runtimeIngressToken: 'second',
      runtimeAdminToken: 'second',
      historyToken: 'second',
      syncSecret: 'second',
    };
    const pods = (secrets: Tree): unknown =>
      at(objectOf(render(overlay(minimal, { secrets })), 'Deployment'), 'spec.template');
    assert.deepEqual(pods(second), pods(first));
  });
  await checks.check(
    'secrets are mounted as a folder, without subPath, and no credential is in env',
    () => {
      for (const file of CI_FILES) {
        const objects = render(ciValues(file));
        const container = at(
          objectOf(objects, 'Deployment'),
          'spec.template.spec.containers.0',
        ) as Tree;
        for (const mount of container.volumeMounts as Tree[])
          assert.equal(mount.subPath, undefined);
        const text = JSON.stringify(container);
        assert.doesNotMatch(text, /ci-key|ci-secret/);
        assert.match(
          text,
          /"GATEWAY_API_KEYS_FILE","value":"\/etc\/agent-gateway\/secrets\/api-keys"/,
        );
        const mounted = at(
          objectOf(objects, 'Deployment'),
          `${POD}.volumes.0.secret.items`,
        ) as Tree[];
        const named = (container.env as Tree[]).filter(({ name }) =>
          String(name).endsWith('_FILE'),
        );
        assert.deepEqual(
          named.map(({ value }) => value),
          mounted.map(({ path }) => `/etc/agent-gateway/secrets/${String(path)}`),
        );
      }
    },
  );
}

async function checkDoors(checks: Checks): Promise<void> {
  await checks.check('the public Service never has the management port', () => {
    for (const file of CI_FILES) {
      const services = render(ciValues(file)).filter(({ kind }) => kind === 'Service');
      const open = services.filter((service) => at(service, 'spec.clusterIP') !== 'None');
      assert.deepEqual(
        open.map((service) => (at(service, 'spec.ports') as Tree[]).map(({ name }) => name)),
        [['http']],
      );
    }
  });
  await checks.check(
    'the NetworkPolicy opens DNS and the port of each upstream, and no more',
    () => {
      const values = overlay(ciValues('httproute-values.yaml'), {
        networkPolicy: { enabled: true, clients: [{ podSelector: {} }] },
      });
      const egress = at(objectOf(render(values), 'NetworkPolicy'), 'spec.egress') as Tree[];
      const tcp = (...ports: number[]): Tree[] => ports.map((port) => ({ port, protocol: 'TCP' }));
      assert.deepEqual(
        egress.map(({ ports }) => ports),
        [
          [
            { port: 53, protocol: 'UDP' },
            { port: 53, protocol: 'TCP' },
          ],
          tcp(4437),
          tcp(443),
          tcp(8080, 9070),
          tcp(3000),
        ],
      );
    },
  );
}

async function checkNotes(checks: Checks): Promise<void> {
  await checks.check('the notes say how to reach it in the cluster and how to make a call', () => {
    const text = notes(ciValues('minimal-values.yaml'));
    assert.match(text, /kubectl -n agents port-forward service\/gw-agent-gateway 8787:80/);
    assert.match(
      text,
      /API_KEY=\$\(kubectl -n agents get secret gw-agent-gateway -o jsonpath='\{\.data\.api-keys\}'/,
    );
    assert.match(
      text,
      /port-forward service\/gw-agent-gateway 8789:80 &\n +REGISTRY=http:\/\/127\.0\.0\.1:8789\/registry\n/,
    );
    assert.match(text, /curl .*-H "Authorization: Bearer \$API_KEY" \$REGISTRY\/deployments/);
  });
  await checks.check('the notes call each kind of Service where it is reached', () => {
    const called = (service: Tree): string =>
      notes(overlay(ciValues('minimal-values.yaml'), { service })).replaceAll(/\s+/g, ' ');
    assert.match(
      called({ type: 'ClusterIP', port: 81 }),
      /port-forward service\/gw-agent-gateway 8787:81 & GATEWAY=http:\/\/127\.0\.0\.1:8787 curl/,
    );
    assert.match(
      called({ type: 'LoadBalancer', port: 8080 }),
      /GATEWAY=http:\/\/\$\(kubectl [^)]*loadBalancer[^)]*\):8080 curl/,
    );
    assert.match(
      called({ type: 'LoadBalancer' }),
      /GATEWAY=http:\/\/\$\(kubectl [^)]*loadBalancer[^)]*\) curl/,
    );
    assert.match(
      called({ type: 'NodePort' }),
      /NODE=\$\(kubectl get nodes .* GATEWAY=http:\/\/\$NODE:\$\(kubectl [^)]*nodePort\}'\) curl/,
    );
  });
  await checks.check('the notes name the public address and the existing Secret', () => {
    const text = notes(ciValues('production-values.yaml'));
    assert.match(text, /GATEWAY=https:\/\/agents\.example/);
    assert.match(text, /in the key api-keys of the Secret acme-gateway/);
    assert.doesNotMatch(text, /8787:/);
  });
  await checks.check('the notes say what a credential of the ingress is exposed to', () => {
    const warning = /Restate journals the credential of its ingress/;
    assert.match(notes(ciValues('production-values.yaml')), warning);
    assert.doesNotMatch(notes(ciValues('minimal-values.yaml')), warning);
  });
}
