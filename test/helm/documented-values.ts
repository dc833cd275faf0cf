import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHART, DEFAULT_VALUES, isTree, type Tree } from './chart.ts';

/** The paths of `values.yaml` that carry a comment for the README, in their order. */
export function documentedValues(): string[] {
  const lines = readFileSync(join(CHART, 'values.yaml'), 'utf8').split('\n');
  const paths: string[] = [];
  const above: { indent: number; key: string }[] = [];
  let commented = false;
  for (const line of lines) {
    const [, spaces = '', key] = /^( *)([A-Za-z]\w*):/.exec(line) ?? [];
    if (key !== undefined) {
      while ((above.at(-1)?.indent ?? -1) >= spaces.length) above.pop();
      above.push({ indent: spaces.length, key });
      if (commented) paths.push(above.map((part) => part.key).join('.'));
    }
    commented = /^ *# -- \S/.test(line);
  }
  return paths;
}

/** The paths of all values that hold no further values. */
export function leafValues(tree: Tree = DEFAULT_VALUES, above = ''): string[] {
  return Object.entries(tree).flatMap(([key, value]) =>
    isTree(value) && Object.keys(value).length > 0
      ? leafValues(value, `${above}${key}.`)
      : [`${above}${key}`],
  );
}

export interface Schema {
  additionalProperties?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
}

export const SCHEMA = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Schema;

/** The schema's entry of a value, or of all of them. */
export function schemaOf(keys: readonly string[]): Schema | undefined {
  return keys.reduce<Schema | undefined>((node, key) => node?.properties?.[key], SCHEMA);
}
