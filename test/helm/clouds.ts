import assert from 'node:assert/strict';
import {
  at,
  ciValues,
  environmentIn,
  gatewayIn,
  objectOf,
  overlay,
  refusal,
  render,
  type KubernetesObject,
  type Tree,
} from './chart.ts';
import type { Checks } from '../support/checks.ts';

const ALB = 'alb.ingress.kubernetes.io/';
const NLB = 'service.beta.kubernetes.io/aws-load-balancer-';
const APPGW = 'appgw.ingress.kubernetes.io/';

/** Where the load balancer asks for the health, and how many seconds a pod that it takes out may still answer. */
type HealthCheck = [path: unknown, port: unknown, drainSeconds: unknown];

const HEALTH_CHECKS: Record<string, (objects: KubernetesObject[]) => HealthCheck> = {
  'gke-values.yaml': (objects) => {
    const { healthCheck, connectionDraining } = objectOf(objects, 'BackendConfig').spec as Tree;
    const { requestPath, port } = healthCheck as Tree;
    return [requestPath, port, (connectionDraining as Tree).drainingTimeoutSec];
  },
  'eks-values.yaml': (objects) => ofAws(annotations(objects, 'Ingress'), ALB),
  'eks-nlb-values.yaml': (objects) =>
    ofAws(annotations(objects, 'Service', 'gw-agent-gateway'), NLB),
  'aks-values.yaml': (objects) => {
    const all = annotations(objects, 'Ingress');
    return [
      all[`${APPGW}health-probe-path`],
      Number(all[`${APPGW}health-probe-port`]),
      Number(all[`${APPGW}connection-draining-timeout`]),
    ];
  },
};

const onIngress = (name: string, value: string): Tree => ({
  ingress: { annotations: { [name]: value } },
});
const inClass = (className: string): Tree => ({
  ingress: { enabled: true, hosts: ['h.example'], className },
});
const NO_PATH = /-path is "", where the gateway has nothing: .* Use \/health\./;

/** Values that a load balancer of a cloud cannot work with, above a file, and what the chart says. */
const REFUSED: [file: string, above: Tree, says: RegExp][] = [
  [
    'eks-values.yaml',
    onIngress(`${ALB}healthcheck-path`, '/'),
    /healthcheck-path is "\/", where the gateway has nothing: .* Use \/health\./,
  ],
  [
    'eks-values.yaml',
    onIngress(`${ALB}target-group-attributes`, 'deregistration_delay.timeout_seconds=30'),
    /deregistration_delay\.timeout_seconds is 30, .* Make it at least 40\./,
  ],
  [
    'eks-values.yaml',
    onIngress(`${ALB}load-balancer-attributes`, 'idle_timeout.timeout_seconds=3600'),
    /idle_timeout\.timeout_seconds is 3600, .* Use 70\./,
  ],
  [
    'aks-values.yaml',
    onIngress(`${APPGW}connection-draining-timeout`, '20'),
    /connection-draining-timeout is 20, .* Make it at least 40\./,
  ],
  ['minimal-values.yaml', inClass('alb'), NO_PATH],
  ['minimal-values.yaml', inClass('azure-application-gateway'), NO_PATH],
  // A Service with an NLB is judged by the same rules.
  [
    'eks-nlb-values.yaml',
    {
      service: {
        annotations: {
          [`${NLB}target-group-attributes`]: 'deregistration_delay.timeout_seconds=1',
        },
      },
    },
    /deregistration_delay\.timeout_seconds is 1, /,
  ],
];

/** Checks the examples for clouds: what the load balancer asks, and how long it lets a pod answer that stops. */
export async function checkClouds(checks: Checks): Promise<void> {
  for (const [file, healthCheck] of Object.entries(HEALTH_CHECKS)) {
    // `/` is 404, and a pod was cut off in the middle of its drain.
    await checks.check(`${file} asks where the drain shows, and waits for its end`, () => {
      const values = ciValues(file);
      const objects = render(values);
      const [path, port, drainSeconds] = healthCheck(objects);
      assert.equal(path, '/health');
      assert.equal(port, at(gatewayIn(objects), 'ports.0.containerPort'));
      const environment = environmentIn(objects);
      assert.equal(environment.get('GATEWAY_HEALTH_FAILS_ON_DRAIN'), 'true');
      const sleep = Number(at(gatewayIn(objects), 'lifecycle.preStop.sleep.seconds'));
      const needed = sleep + Number(environment.get('GATEWAY_DRAIN_TIMEOUT_MS')) / 1_000;
      assert.ok(sleep >= 15);
      assert.ok(Number(drainSeconds) >= needed, `${String(drainSeconds)} s for ${needed}`);
      assert.ok(Number(values.terminationGracePeriodSeconds) >= needed);
    });
  }
  for (const [file, above, says] of REFUSED) {
    await checks.check(`${file} with ${JSON.stringify(above)} is refused`, () =>
      assert.match(refusal(overlay(ciValues(file), above)), says),
    );
  }
}

function annotations(objects: KubernetesObject[], kind: string, name?: string) {
  return objectOf(objects, kind, name).metadata.annotations as Record<string, string>;
}

function ofAws(all: Record<string, string>, prefix: string): HealthCheck {
  const attributes = all[`${prefix}target-group-attributes`] ?? '';
  const [, seconds] = /deregistration_delay\.timeout_seconds=(\d+)/.exec(attributes) ?? [];
  assert.equal(all[`${prefix}healthcheck-port`], 'traffic-port');
  return [all[`${prefix}healthcheck-path`], 8787, Number(seconds)];
}
