import assert from 'node:assert/strict';
import {
  at,
  environmentIn,
  minimal,
  objectOf,
  overlay,
  render,
  treeOf,
  type KubernetesObject,
} from './chart.ts';
import type { Checks } from '../support/checks.ts';
import { documentedValues } from './documented-values.ts';
import { ABSENCES, SCENES, type Effect } from './scenes.ts';

/** Sets every value of the chart to a unique value and looks for it in the rendered objects. */
export async function checkFeatures(checks: Checks): Promise<void> {
  for (const { name, base, effects } of SCENES) {
    const values = Object.values(effects)
      .flat()
      .reduce((tree, [value, given]) => overlay(tree, treeOf(value, given)), minimal(base));
    const objects = render(values);
    for (const [where, ofObject] of Object.entries(effects)) {
      for (const effect of ofObject) {
        await checks.check(`${effect[0]} is seen in ${where} (${name})`, () =>
          assertSeen(objects, where, effect),
        );
      }
    }
  }
  for (const [value, given, kind] of ABSENCES) {
    await checks.check(`${value}: ${String(given)} leaves ${kind} out`, () => {
      const kinds = render(minimal(treeOf(value, given))).map((object) => object.kind);
      assert.ok(render(minimal()).some((object) => object.kind === kind));
      assert.ok(!kinds.includes(kind));
    });
  }
  await checks.check('every value has a test', () => {
    const tested = new Set([
      ...SCENES.flatMap(({ effects }) => Object.values(effects).flat()).map(([value]) => value),
      ...ABSENCES.map(([value]) => value),
      // Where a chart has this one as a dependency.
      'enabled',
    ]);
    // Each setting is seen in the environment, which settings.ts checks.
    const rest = documentedValues().filter((path) => !path.startsWith('settings.'));
    assert.deepEqual([...tested].sort(), rest.sort());
  });
}

function assertSeen(objects: KubernetesObject[], where: string, effect: Effect): void {
  const [, given, path] = effect;
  const [kind = '', name] = where.split('/');
  const found = path.startsWith('env:')
    ? environmentIn(objects).get(path.slice('env:'.length))
    : at(objectOf(objects, kind, name), path);
  assert.deepEqual(found, effect.length > 3 ? effect[3] : given);
}
