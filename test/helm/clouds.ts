import assert from 'node:assert/strict';
import { at, ciValues, objectOf, overlay, refusal, render, type Tree } from './chart.ts';
import type { Checks } from '../support/checks.ts';

const ALB = 'alb.ingress.kubernetes.io/';
const NLB = 'service.beta.kubernetes.io/aws-load-balancer-';
const APPGW = 'appgw.ingress.kubernetes.io/';

interface CloudCase {
  file: string;
  /** Where the load balancer asks for the health, and how many seconds a pod that it takes out may still answer. */
  settings: (values: Tree) => { path: unknown; port: unknown; drainSeconds: unknown };
}

const CLOUDS: CloudCase[] = [
  {
    file: 'gke-values.yaml',
    settings: (values) => {
      const spec = at(objectOf(render(values), 'BackendConfig'), 'spec');
      return {
        path: at(spec, 'healthCheck.requestPath'),
        port: at(spec, 'healthCheck.port'),
        drainSeconds: at(spec, 'connectionDraining.drainingTimeoutSec'),
      };
    },
  },
  { file: 'eks-values.yaml', settings: (values) => ofAws(annotations(values, 'Ingress'), ALB) },
  { file: 'eks-nlb-values.yaml', settings: (values) => ofAws(annotations(values, 'Service'), NLB) },
  {
    file: 'aks-values.yaml',
    settings: (values) => {
      const all = annotations(values, 'Ingress');
      return {
        path: all[`${APPGW}health-probe-path`],
        port: Number(all[`${APPGW}health-probe-port`]),
        drainSeconds: Number(all[`${APPGW}connection-draining-timeout`]),
      };
    },
  },
];

/** Values that a load balancer of a cloud cannot work with, above a file, and what the chart says. */
const REFUSED: [file: string, annotations: Tree, says: RegExp][] = [
  [
    'eks-values.yaml',
    { [`${ALB}healthcheck-path`]: '/' },
    /healthcheck-path is "\/", where the gateway has nothing: .* Use \/health\./,
  ],
  [
    'eks-values.yaml',
    { [`${ALB}target-group-attributes`]: 'deregistration_delay.timeout_seconds=30' },
    /deregistration_delay\.timeout_seconds is 30, .* Make it at least 40\./,
  ],
  [
    'eks-values.yaml',
    { [`${ALB}load-balancer-attributes`]: 'idle_timeout.timeout_seconds=3600' },
    /idle_timeout\.timeout_seconds is 3600, .* Use 70\./,
  ],
  [
    'aks-values.yaml',
    { [`${APPGW}connection-draining-timeout`]: '20' },
    /connection-draining-timeout is 20, .* Make it at least 40\./,
  ],
];

/** Checks the examples for clouds: what the load balancer asks, and how long it lets a pod answer that stops. */
export async function checkClouds(checks: Checks): Promise<void> {
  for (const { file, settings } of CLOUDS) {
    // `/` is 404, and a pod was cut off in the middle of its drain.
    await checks.check(`${file} asks where the drain shows, and waits for its end`, () => {
      const values = ciValues(file);
      const { path, port, drainSeconds } = settings(values);
      const container = at(
        objectOf(render(values), 'Deployment'),
        'spec.template.spec.containers.0',
      ) as Tree & { env: { name: string; value: string }[] };
      assert.equal(path, '/health');
      assert.equal(port, at(container, 'ports.0.containerPort'));
      const value = (name: string) => container.env.find((one) => one.name === name)?.value;
      assert.equal(value('GATEWAY_HEALTH_FAILS_ON_DRAIN'), 'true');
      const sleep = Number(at(container, 'lifecycle.preStop.sleep.seconds'));
      const needed = sleep + Number(value('GATEWAY_DRAIN_TIMEOUT_MS')) / 1_000;
      assert.ok(sleep >= 15);
      assert.ok(Number(drainSeconds) >= needed, `${String(drainSeconds)} s for ${needed}`);
      assert.ok(Number(values.terminationGracePeriodSeconds) >= needed);
    });
  }
  for (const [file, above, says] of REFUSED) {
    await checks.check(`${file} with ${JSON.stringify(above)} is refused`, () =>
      assert.match(refusal(overlay(ciValues(file), { ingress: { annotations: above } })), says),
    );
  }
  for (const className of ['alb', 'azure-application-gateway']) {
    await checks.check(
      `an Ingress of the class ${className} without a health path is refused`,
      () => {
        const ingress = { enabled: true, hosts: ['h.example'], className };
        const message = refusal(overlay(ciValues('minimal-values.yaml'), { ingress }));
        assert.match(message, /-path is "", where the gateway has nothing: .* Use \/health\./);
      },
    );
  }
  await checks.check('a Service with an NLB is judged by the same rules', () => {
    const nlb = ciValues('eks-nlb-values.yaml');
    const short = { [`${NLB}target-group-attributes`]: 'deregistration_delay.timeout_seconds=1' };
    const says = /deregistration_delay\.timeout_seconds is 1, /;
    assert.match(refusal(overlay(nlb, { service: { annotations: short } })), says);
  });
}

function annotations(values: Tree, kind: string): Record<string, string> {
  const name = kind === 'Service' ? 'gw-agent-gateway' : undefined;
  return objectOf(render(values), kind, name).metadata.annotations as Record<string, string>;
}

function ofAws(all: Record<string, string>, prefix: string) {
  const [, seconds] = /deregistration_delay\.timeout_seconds=(\d+)/.exec(
    all[`${prefix}target-group-attributes`] ?? '',
  ) ?? [undefined, undefined];
  assert.equal(all[`${prefix}healthcheck-port`], 'traffic-port');
  return { path: all[`${prefix}healthcheck-path`], port: 8787, drainSeconds: Number(seconds) };
}
