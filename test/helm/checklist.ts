import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  at,
  ciValues,
  environmentIn,
  objectOf,
  render,
  type KubernetesObject,
  type Tree,
} from './chart.ts';
import type { Checks } from '../support/checks.ts';

const PRODUCTION_PAGE = join(import.meta.dirname, '../../docs/production.md');
/** The values files from which operators start. */
const FILES = ['production-values.yaml', 'tenant-acme-values.yaml', 'tenant-globex-values.yaml'];

/** The lines of the checklist of docs/production.md that values can fulfil, and how to check each of them. */
const KEPT: [line: RegExp, keeps: (values: Tree, objects: KubernetesObject[]) => void][] = [
  [
    /given by digest/,
    (values) => assert.match(String(at(values, 'image.digest')), /^sha256:[0-9a-f]{64}$/),
  ],
  [
    /from a secret manager/,
    (values, objects) => {
      assert.ok(at(values, 'secrets.existingSecret'));
      assert.ok(!objects.some(({ kind }) => kind === 'Secret'));
    },
  ],
  [
    /Browsers get read tokens/,
    (values) => {
      const keys = ['secrets.existingKeys.readTokenSecrets', 'settings.readTokenJwks'];
      assert.ok(keys.some((key) => at(values, key)));
    },
  ],
  [
    /names your origins/,
    (_, objects) => {
      for (const name of ['GATEWAY_CORS_ALLOW_ORIGINS', 'GATEWAY_PUBLIC_URL']) {
        assert.match(String(environmentIn(objects).get(name)), /^https:/, name);
      }
    },
  ],
  [
    /have their final values/,
    (values) => {
      assert.ok(at(values, 'settings.tenant'));
      assert.match(String(at(values, 'settings.runtimeKeyTemplate')), /\{tenant\}/);
    },
  ],
  [
    /has the tenant column, and Electric has a secret/,
    (values) => {
      assert.notEqual(at(values, 'settings.shapesTables'), '*');
      assert.ok(at(values, 'settings.shapesTenantColumn'));
      assert.ok(at(values, 'secrets.existingKeys.syncSecret'));
    },
  ],
  [
    /Three copies run in three zones/,
    (values, objects) => {
      const scaler = objects.find(({ kind }) => kind === 'HorizontalPodAutoscaler');
      const copies = at(scaler ?? values, scaler ? 'spec.minReplicas' : 'replicaCount');
      assert.ok(Number(copies) >= 3);
      objectOf(objects, 'PodDisruptionBudget');
      const spread = at(
        objectOf(objects, 'Deployment'),
        'spec.template.spec.topologySpreadConstraints.0.topologyKey',
      );
      assert.equal(spread, 'topology.kubernetes.io/zone');
    },
  ],
  [
    /`\/registry` closed to the public/,
    (_, objects) => {
      const doors = objects.filter(({ kind }) => ['Ingress', 'HTTPRoute'].includes(kind));
      assert.equal(doors.length, 1);
      assert.doesNotMatch(JSON.stringify(doors[0]?.spec), /"\/(?:registry)?"/);
      objectOf(objects, 'BackendTrafficPolicy');
    },
  ],
  [
    /Network policies/,
    (_, objects) => {
      const policy = objectOf(objects, 'NetworkPolicy');
      const ways = [
        ...(at(policy, 'spec.egress') as Tree[]),
        ...(at(policy, 'spec.ingress') as Tree[]),
      ];
      const open = ways.filter((way) => way.to === undefined && way.from === undefined);
      // The collector alone may be anywhere.
      assert.ok(open.length <= 1, JSON.stringify(open));
    },
  ],
  [/Alerts reach somebody/, (_, objects) => void objectOf(objects, 'PrometheusRule')],
];

/** Checks that the values files from which operators start fulfil the checklist of docs/production.md. */
export async function checkChecklist(checks: Checks): Promise<void> {
  const lines = readFileSync(PRODUCTION_PAGE, 'utf8').match(/^- \[ \] .*(?:\n {2,}.*)*/gm) ?? [];
  for (const [line, keeps] of KEPT) {
    const found = lines.filter((one) => line.test(one));
    for (const file of FILES) {
      await checks.check(`${file} keeps ${line.source} of the checklist`, () => {
        assert.equal(found.length, 1);
        keeps(ciValues(file), render(ciValues(file)));
      });
    }
  }
}
