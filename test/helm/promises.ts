import assert from 'node:assert/strict';
import {
  at,
  ciValues,
  CI_FILES,
  DEFAULT_VALUES,
  gatewayIn,
  minimal,
  notes,
  objectOf,
  overlay,
  render,
  type Tree,
} from './chart.ts';
import type { Checks } from '../support/checks.ts';

const SECRETS_FOLDER = '/etc/agent-gateway/secrets';

/** Checks what the chart promises operators: a drain in time, rotation, closed ports, and notes that can be pasted. */
export async function checkPromises(checks: Checks): Promise<void> {
  await checks.check('by default a pod has time for preStop and drain, and some to spare', () => {
    const { preStopSleepSeconds, terminationGracePeriodSeconds } = DEFAULT_VALUES;
    const drainMs = Number(at(DEFAULT_VALUES, 'settings.drainTimeoutMs'));
    const neededSeconds = Number(preStopSleepSeconds) + drainMs / 1_000;
    assert.ok(Number(terminationGracePeriodSeconds) > neededSeconds);
  });
  await checks.check('liveness and startup ask the process alone, readiness the drain', () => {
    const gateway = gatewayIn(render(minimal()));
    const path = (probe: string): unknown => at(gateway, `${probe}Probe.httpGet`);
    assert.deepEqual(path('liveness'), { path: '/health/live', port: 'management' });
    assert.deepEqual(path('startup'), { path: '/health/live', port: 'management' });
    assert.deepEqual(path('readiness'), { path: '/health/ready', port: 'management' });
  });
  await checks.check('no preStop sleep leaves the hook out', () => {
    assert.equal(gatewayIn(render(minimal({ preStopSleepSeconds: 0 }))).lifecycle, undefined);
  });
  await checks.check('no new secret makes new pods: the gateway reads its file again', () => {
    const pods = (one: string): unknown => {
      const secrets = {
        apiKeys: [`a-key-0123456789-${one}`],
        readTokenSecrets: [one.padEnd(32, 's')],
        runtimeIngressToken: one,
        runtimeAdminToken: one,
        historyToken: one,
        syncSecret: one,
      };
      return at(objectOf(render(minimal({ secrets })), 'Deployment'), 'spec.template');
    };
    assert.deepEqual(pods('second'), pods('first'));
  });
  for (const file of CI_FILES) {
    await checks.check(`${file} mounts secrets as a folder, with no credential in env`, () => {
      const objects = render(ciValues(file));
      const gateway = gatewayIn(objects);
      for (const { subPath } of gateway.volumeMounts as Tree[]) assert.equal(subPath, undefined);
      assert.doesNotMatch(JSON.stringify(gateway), /ci-key|ci-secret/);
      const files = (gateway.env as Tree[]).filter(({ name }) => String(name).endsWith('_FILE'));
      const keys = { name: 'GATEWAY_API_KEYS_FILE', value: `${SECRETS_FOLDER}/api-keys` };
      assert.deepEqual(files[0], keys);
      const mounted = 'spec.template.spec.volumes.0.secret.items';
      assert.deepEqual(
        files.map(({ value }) => value),
        (at(objectOf(objects, 'Deployment'), mounted) as Tree[]).map(
          ({ path }) => `${SECRETS_FOLDER}/${String(path)}`,
        ),
      );
    });
    await checks.check(`${file} has no management port on its public Service`, () => {
      const open = render(ciValues(file)).filter(
        (object) => object.kind === 'Service' && at(object, 'spec.clusterIP') !== 'None',
      );
      assert.deepEqual(
        open.map((service) => (at(service, 'spec.ports') as Tree[]).map(({ name }) => name)),
        [['http']],
      );
    });
  }
  await checks.check('the NetworkPolicy opens DNS and the ports of upstreams, and no more', () => {
    const networkPolicy = { enabled: true, clients: [{ podSelector: {} }] };
    const objects = render(overlay(ciValues('httproute-values.yaml'), { networkPolicy }));
    const egress = at(objectOf(objects, 'NetworkPolicy'), 'spec.egress') as Tree[];
    const ports = (protocol: string, ...numbers: number[]): Tree[] =>
      numbers.map((port) => ({ port, protocol }));
    assert.deepEqual(
      egress.map((rule) => rule.ports),
      [
        [...ports('UDP', 53), ...ports('TCP', 53)],
        ports('TCP', 4437),
        ports('TCP', 443),
        ports('TCP', 8080, 9070),
        ports('TCP', 3000),
      ],
    );
  });
  await checkNotes(checks);
}

async function checkNotes(checks: Checks): Promise<void> {
  await checks.check('the notes say how to reach it in the cluster and how to make a call', () => {
    const text = notes(minimal());
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
    const called = (service: Tree): string => notes(minimal({ service })).replaceAll(/\s+/g, ' ');
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
    assert.doesNotMatch(notes(minimal()), warning);
  });
}
