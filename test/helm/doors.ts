import assert from 'node:assert/strict';
import {
  at,
  ciValues,
  CI_FILES,
  minimal,
  objectOf,
  overlay,
  render,
  type KubernetesObject,
  type Tree,
} from './chart.ts';
import type { Checks } from '../support/checks.ts';

/** The paths that clients use. `/registry` is Restate's admin API and only for operators. */
const PUBLIC_PATHS = ['/api', '/streams', '/shapes', '/health'];
const INGRESS = { ingress: { enabled: true, hosts: ['h.example'] } };
const ROUTE = { httpRoute: { enabled: true, parentRefs: [{ name: 'g' }] } };
const REGISTRY = { registry: { enabled: true } };
const TARGET = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'gw-agent-gateway' };

/** Checks which paths are public, and that each implementation lets reads wait. */
export async function checkDoors(checks: Checks): Promise<void> {
  await checks.check('by default what clients use is let in, and /registry is not', () => {
    const objects = render(minimal({ ...INGRESS, ...ROUTE }));
    const paths = at(objectOf(objects, 'Ingress'), 'spec.rules.0.http.paths') as Tree[];
    const matches = at(objectOf(objects, 'HTTPRoute'), 'spec.rules.0.matches') as Tree[];
    assert.deepEqual(
      [paths.map(({ path }) => path), matches.map((match) => at(match, 'path.value'))],
      [PUBLIC_PATHS, PUBLIC_PATHS],
    );
  });
  await checks.check('/registry has a door of its own where it is asked for', () => {
    const asked = overlay(minimal({ ...INGRESS, ...ROUTE }), {
      ingress: { ...REGISTRY, tls: [{ secretName: 't' }] },
      httpRoute: REGISTRY,
    });
    const objects = render(asked);
    const ingress = objectOf(objects, 'Ingress', 'gw-agent-gateway-registry');
    assert.equal(at(ingress, 'spec.rules.0.host'), 'h.example');
    assert.deepEqual(at(ingress, 'spec.tls'), [{ secretName: 't' }]);
    const route = objectOf(objects, 'HTTPRoute', 'gw-agent-gateway-registry');
    assert.deepEqual(at(route, 'spec.parentRefs'), [{ name: 'g' }]);
  });
  for (const file of CI_FILES) {
    await checks.check(`where ${file} lets /registry in it has a host of its own`, () => {
      for (const { kind, metadata, spec } of render(ciValues(file))) {
        if (!['Ingress', 'HTTPRoute'].includes(kind)) continue;
        const isForOperators = metadata.name.endsWith('-registry');
        assert.equal(/registry"/.test(JSON.stringify(spec)), isForOperators);
        assert.equal(/internal\.example/.test(JSON.stringify(spec)), isForOperators);
      }
    });
  }
  await checks.check('a rule of one’s own goes to the gateway, or where it says', () => {
    const own = { matches: [{ path: { type: 'Exact', value: '/api/spawn' } }] };
    const redirect = { filters: [{ type: 'RequestRedirect' }], backendRefs: [] };
    const rules = at(
      objectOf(routeWith({ extraRules: [own, redirect] }), 'HTTPRoute'),
      'spec.rules',
    );
    assert.deepEqual((rules as Tree[]).slice(1), [
      { ...own, backendRefs: [{ name: 'gw-agent-gateway', port: 80 }] },
      redirect,
    ]);
  });
  await checks.check('the HTTPRoute has no timeout, so that long-polls are not cut', () => {
    const timeouts = at(objectOf(routeWith({}), 'HTTPRoute'), 'spec.rules.0.timeouts');
    assert.deepEqual(timeouts, { request: '0s', backendRequest: '0s' });
  });
  await checkPresets(checks);
}

function routeWith(httpRoute: Tree): KubernetesObject[] {
  return render(minimal(overlay(ROUTE, { httpRoute })));
}

function ingressWith(ingress: Tree): KubernetesObject[] {
  return render(minimal(overlay(INGRESS, { ingress })));
}

async function checkPresets(checks: Checks): Promise<void> {
  // Its own defaults: 1,024 requests at once, and an end after five minutes of silence.
  await checks.check(
    'Envoy Gateway lets many reads wait, for long, and keeps no connection for longer than the gateway',
    () => {
      const objects = routeWith({ preset: 'envoy-gateway' });
      assert.deepEqual(objectOf(objects, 'BackendTrafficPolicy').spec, {
        targetRefs: [TARGET],
        circuitBreaker: {
          maxConnections: 1_000_000,
          maxPendingRequests: 1_000_000,
          maxParallelRequests: 1_000_000,
        },
        timeout: {
          http: { requestTimeout: '0s', streamIdleTimeout: '1h', connectionIdleTimeout: '60s' },
        },
      });
    },
  );
  // By the definitions of version 2.6.7, whose Go module the proxy does not have: no schema is asked here.
  await checks.check('nginx Gateway Fabric holds no answer back, and waits for it', () => {
    const objects = routeWith({ preset: 'nginx-gateway-fabric' });
    assert.deepEqual(objectOf(objects, 'ProxySettingsPolicy').spec, {
      targetRefs: [TARGET],
      buffering: { disable: true },
      timeout: { read: '1h', send: '1h' },
    });
    assert.deepEqual(objectOf(objects, 'ClientSettingsPolicy').spec, {
      targetRef: TARGET,
      body: { maxSize: '0' },
    });
  });
  await checks.check('HAProxy waits for an answer', () => {
    const { metadata } = objectOf(ingressWith({ preset: 'haproxy' }), 'Ingress');
    assert.deepEqual(metadata.annotations, { 'haproxy.org/timeout-server': '1h' });
  });
  await checks.check('Traefik keeps no connection for longer than the gateway', () => {
    const objects = ingressWith({ preset: 'traefik' });
    assert.deepEqual(objectOf(objects, 'ServersTransport').spec, {
      forwardingTimeouts: { responseHeaderTimeout: '0s', idleConnTimeout: '60s' },
    });
    assert.deepEqual(objectOf(objects, 'Service', 'gw-agent-gateway').metadata.annotations, {
      'traefik.ingress.kubernetes.io/service.serverstransport':
        'agents-gw-agent-gateway@kubernetescrd',
    });
  });
  await checks.check('without a preset nothing of an implementation is installed', () => {
    const kinds = [...routeWith({}), ...ingressWith({})].map(({ apiVersion }) => apiVersion);
    assert.ok(!kinds.some((version) => /envoyproxy|nginx|traefik/.test(version)));
  });
}
