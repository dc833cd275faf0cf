import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ciValues, CI_FILES, minimal, render, type KubernetesObject, type Tree } from './chart.ts';
import type { Checks } from '../support/checks.ts';
import { SCHEMA_FILE, writeSchemas } from './schemas.ts';
import { runTool } from './tools.ts';
import { writeYaml } from './yaml.ts';

/** Checks every object of every deployment against the schemas of Kubernetes and of the custom resources. */
export async function checkConformance(checks: Checks): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'kubernetes-schemas-'));
  try {
    writeSchemas(folder);
    for (const file of CI_FILES) {
      await checks.check(`${file} is valid by Kubernetes' own schemas, strictly`, () => {
        const objects = render(ciValues(file));
        const { code, stdout, stderr } = conform(folder, objects);
        assert.equal(code, 0, stdout + stderr);
        assert.match(
          stdout,
          new RegExp(`Valid: ${objects.length}, Invalid: 0, Errors: 0, Skipped: 0`),
        );
      });
    }
    await checks.check('fields that no deployment has are valid by them too', () => {
      const { code, stdout, stderr } = conform(folder, render(minimal(FIELDS)));
      assert.equal(code, 0, stdout + stderr);
    });
    await checks.check('the schemas refuse an unknown field and a wrong type', () => {
      for (const wrong of [{ extraContainers: [{ name: 'x', imgae: 'y' }] }, WRONG_TYPE]) {
        const objects = render(minimal(wrong));
        assert.equal(conform(folder, objects).code, 1);
      }
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const WRONG_TYPE: Tree = { extraVolumes: [{ name: 'v', emptyDir: 'one' }] };

/** Fields that no deployment of `ci/` has. */
export const FIELDS: Tree = {
  settings: { host: '::' },
  service: {
    type: 'LoadBalancer',
    loadBalancerIP: '192.0.2.9',
    loadBalancerClass: 'example.com/own',
    externalTrafficPolicy: 'Local',
    internalTrafficPolicy: 'Local',
    ipFamilyPolicy: 'SingleStack',
    ipFamilies: ['IPv4'],
    labels: { mine: 'yes' },
  },
  serviceAccount: { labels: { mine: 'yes' } },
  ingress: {
    enabled: true,
    hosts: ['h.example'],
    labels: { mine: 'yes' },
    pathType: 'ImplementationSpecific',
  },
  httpRoute: { enabled: true, parentRefs: [{ name: 'g' }], labels: { mine: 'yes' } },
  lifecycle: { postStart: { httpGet: { path: '/health', port: 'http' } } },
  shareProcessNamespace: true,
  hostUsers: false,
  affinity: {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: 'row', labelSelector: { matchLabels: {} } } },
      ],
    },
  },
  tolerations: [{ key: 'own', operator: 'Equal', value: 'yes', effect: 'NoExecute' }],
  hostAliases: [{ ip: '192.0.2.1', hostnames: ['one'] }],
  dnsConfig: { nameservers: ['192.0.2.2'], options: [{ name: 'ndots', value: '2' }] },
  podMonitor: { enabled: true, honorLabels: true, interval: '30s', scrapeTimeout: '9s' },
};

function conform(folder: string, objects: KubernetesObject[]) {
  const text = objects.map((object) => writeYaml(object)).join('---\n');
  const location = join(folder, SCHEMA_FILE);
  return runTool('kubeconform', ['-strict', '-summary', '-schema-location', location], text);
}
