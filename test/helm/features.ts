import assert from 'node:assert/strict';
import {
  at,
  ciValues,
  objectOf,
  overlay,
  render,
  treeOf,
  type KubernetesObject,
  type Tree,
} from './chart.ts';
import type { Checks } from '../support/checks.ts';
import { documentedValues } from './documented-values.ts';
import { ABSENCES, SCENES, type Effect } from './scenes.ts';

const SOUND = ciValues('minimal-values.yaml');

/** Sets every value of the chart to a unique value and looks for it in the rendered objects. */
export async function checkFeatures(checks: Checks): Promise<void> {
  for (const { name, base, effects } of SCENES) {
    const values = effects.reduce(
      (tree, [value, given]) => overlay(tree, treeOf(value, given)),
      overlay(SOUND, base),
    );
    const objects = render(values);
    for (const effect of effects) {
      await checks.check(`${effect[0]} is seen in ${effect[2]} (${name})`, () =>
        assertSeen(objects, effect),
      );
    }
  }
  for (const [value, given, kind] of ABSENCES) {
    await checks.check(`${value}: ${String(given)} leaves ${kind} out`, () => {
      const kinds = (tree: Tree): string[] => render(tree).map((object) => object.kind);
      assert.ok(kinds(SOUND).includes(kind));
      assert.ok(!kinds(overlay(SOUND, treeOf(value, given))).includes(kind));
    });
  }
  await checks.check('every value has a test', () => {
    const tested = new Set([
      ...SCENES.flatMap(({ effects }) => effects.map(([value]) => value)),
      ...ABSENCES.map(([value]) => value),
      // Where a chart has this one as a dependency.
      'enabled',
    ]);
    // Each setting is seen in the environment, which settings.ts checks.
    const rest = documentedValues().filter((path) => !path.startsWith('settings.'));
    assert.deepEqual([...tested].sort(), rest.sort());
  });
}

function assertSeen(objects: KubernetesObject[], effect: Effect): void {
  const [, given, where, path] = effect;
  const seen = effect.length > 4 ? effect[4] : given;
  const [kind = '', name] = where.split('/');
  const object = objectOf(objects, kind, name);
  const found = path.startsWith('env:')
    ? environmentOf(object).get(path.slice('env:'.length))
    : at(object, path);
  assert.deepEqual(found, seen);
}

/** The gateway container's variables: the value of each, or its source. */
export function environmentOf(deployment: KubernetesObject): Map<string, unknown> {
  const entries = at(deployment, 'spec.template.spec.containers.0.env') as Tree[];
  return new Map(entries.map(({ name, value, valueFrom }) => [String(name), value ?? valueFrom]));
}
