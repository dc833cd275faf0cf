import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTool } from './tools.ts';
import { parseYaml, parseYamlDocuments, writeYaml } from './yaml.ts';

export const CHART = join(import.meta.dirname, '../../helm/agent-gateway');
/** The Kubernetes version of `helm template` and of the schemas. */
export const KUBERNETES_VERSION = '1.36.3';

/** A part of a Kubernetes object, walked by path; the tests assert what they find. */
export type Tree = { [key: string]: unknown };

export interface KubernetesObject extends Tree {
  apiVersion: string;
  kind: string;
  metadata: Tree & { name: string; namespace?: string; labels?: Record<string, string> };
}

export interface Release {
  name: string;
  namespace: string;
}
export const RELEASE: Release = { name: 'gw', namespace: 'agents' };

/** The values of `ci/`, by file name. */
export const CI_FILES = readdirSync(join(CHART, 'ci')).filter((file) => file.endsWith('.yaml'));

export function ciValues(file: string): Tree {
  return parseYaml(readFileSync(join(CHART, 'ci', file), 'utf8')) as Tree;
}

export const DEFAULT_VALUES = parseYaml(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Tree;

/** The smallest values that can be installed, with others above them. */
export function minimal(above: Tree = {}): Tree {
  return overlay(ciValues('minimal-values.yaml'), above);
}

const rendered = new Map<string, KubernetesObject[]>();

/**
 * The objects that `helm template` makes of values, made once for equal ones. Throws Helm's message if it
 * refuses them.
 */
export function render(values: Tree, release = RELEASE, chart = CHART): KubernetesObject[] {
  const args = [
    'template',
    release.name,
    chart,
    `--namespace=${release.namespace}`,
    `--kube-version=${KUBERNETES_VERSION}`,
    '--values=-',
  ];
  const text = writeYaml(values);
  const key = [...args, text].join('\n');
  const known = rendered.get(key);
  if (known) return known;
  const { code, stdout, stderr } = runTool('helm', args, text);
  if (code !== 0) throw new Error(stderr);
  const objects = parseYamlDocuments(stdout) as KubernetesObject[];
  rendered.set(key, objects);
  return objects;
}

/** Helm's message for values that it refuses. */
export function refusal(values: Tree, chart = CHART): string {
  try {
    render(values, RELEASE, chart);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('helm rendered what it should refuse');
}

/**
 * The notes that an installation prints. Helm prints them only where it reaches a cluster, so a copy of
 * the chart renders them into an object.
 */
export function notes(values: Tree): string {
  const folder = mkdtempSync(join(tmpdir(), 'helm-notes-'));
  try {
    cpSync(CHART, folder, { recursive: true });
    renameSync(join(folder, 'templates/NOTES.txt'), join(folder, 'notes'));
    writeFileSync(
      join(folder, 'templates/notes.yaml'),
      '{kind: Notes, text: {{ tpl (.Files.Get "notes") . | toJson }}}',
    );
    const object = objectOf(render(values, RELEASE, folder), 'Notes');
    return object.text as string;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The one object of a kind, or the one with the name where there are several. */
export function objectOf(objects: KubernetesObject[], kind: string, name?: string) {
  const found = objects.filter(
    (object) => object.kind === kind && (name === undefined || object.metadata.name === name),
  );
  const [object] = found;
  if (object === undefined || found.length > 1) {
    throw new Error(`${found.length} objects are ${kind} ${name ?? ''}`);
  }
  return object;
}

/** The one container of the Deployment. */
export function gatewayIn(objects: KubernetesObject[]): Tree {
  return at(objectOf(objects, 'Deployment'), 'spec.template.spec.containers.0') as Tree;
}

/** Its variables: the value of each, or its source. */
export function environmentIn(objects: KubernetesObject[]): Map<string, unknown> {
  const entries = gatewayIn(objects).env as Tree[];
  return new Map(entries.map(({ name, value, valueFrom }) => [String(name), value ?? valueFrom]));
}

/** The value at a path such as `spec.ports.0.port`. A dot inside a key has a backslash before it. */
export function at(tree: unknown, path: string): unknown {
  return path
    .split(/(?<!\\)\./)
    .reduce<unknown>((node, key) => (node as Tree | undefined)?.[key.replaceAll('\\.', '.')], tree);
}

/** Merges values as Helm does: maps are merged, everything else is replaced. */
export function overlay(below: Tree, above: Tree): Tree {
  const merged = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = merged[key];
    merged[key] = isTree(under) && isTree(value) ? overlay(under, value) : value;
  }
  return merged;
}

/** A tree with one value at the path `a.b.c`. */
export function treeOf(path: string, value: unknown): Tree {
  return path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Tree;
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
