import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTree, KUBERNETES_VERSION, type Tree } from './chart.ts';
import { runTool } from './tools.ts';
import { parseYaml } from './yaml.ts';

/** The Go modules that define the custom resources. */
const CRD_SOURCES = [
  [
    'sigs.k8s.io/gateway-api@v1.4.1',
    'config/crd/standard',
    'gateway.networking.k8s.io_httproutes.yaml',
  ],
  ...['servicemonitors', 'podmonitors', 'prometheusrules'].map((name) => [
    'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    'example/prometheus-operator-crd',
    `monitoring.coreos.com_${name}.yaml`,
  ]),
  ['github.com/kedacore/keda/v2@v2.21.0', 'config/crd/bases', 'keda.sh_scaledobjects.yaml'],
  [
    'github.com/envoyproxy/gateway@v1.9.1',
    'charts/gateway-helm/charts/crds/crds/generated',
    'gateway.envoyproxy.io_backendtrafficpolicies.yaml',
  ],
  [
    'github.com/traefik/traefik/v3@v3.7.13',
    'docs/content/reference/dynamic-configuration',
    'traefik.io_serverstransports.yaml',
  ],
] as const;

/** The file names of schemas, as kubeconform looks for them. It calls the core group by its version, `v1`. */
export const SCHEMA_FILE = '{{.Group}}_{{.ResourceAPIVersion}}_{{.ResourceKind}}.json';

/**
 * Writes strict JSON schemas of Kubernetes' kinds and of the custom ones into a folder. kubeconform's
 * own are remote and may not be reached; the sources of all of them come through the Go module proxy.
 */
export function writeSchemas(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const openApi = JSON.parse(
    readFileSync(
      join(
        moduleFolder(`k8s.io/kubernetes@v${KUBERNETES_VERSION}`),
        'api/openapi-spec/swagger.json',
      ),
      'utf8',
    ),
  ) as { definitions: Record<string, Tree> };
  const definitions = strict(openApi.definitions) as Record<string, Tree>;
  Object.assign(definitions, TAKES_NUMBERS_TOO);
  for (const [name, definition] of Object.entries(definitions)) {
    for (const { group, version, kind } of kindsOf(definition)) {
      const schema = { $ref: `#/definitions/${name}`, definitions: reachable(name, definitions) };
      writeSchema(folder, group, version, kind, schema);
    }
  }
  for (const { group, kind, version, schema } of customResources()) {
    writeSchema(folder, group, version, kind, strict(schema) as Tree);
  }
}

interface CustomResource {
  group: string;
  kind: string;
  version: string;
  schema: Tree;
  /** The whole definition, as it is applied to an API server. */
  definition: Tree;
}

export function customResources(): CustomResource[] {
  const files = CRD_SOURCES.map(([module, ...path]) => join(moduleFolder(module), ...path));
  return [...files, join(import.meta.dirname, 'backendconfigs.yaml')].flatMap((file) => {
    const definition = parseYaml(readFileSync(file, 'utf8')) as Tree & {
      spec: {
        group: string;
        names: { kind: string };
        versions: { name: string; schema: { openAPIV3Schema: Tree } }[];
      };
    };
    const { group, names, versions } = definition.spec;
    return versions.map(({ name, schema }) => ({
      group,
      kind: names.kind,
      version: name,
      schema: schema.openAPIV3Schema,
      definition,
    }));
  });
}

/** The folder of a module in Go's cache. Downloads the module if necessary. */
export function moduleFolder(module: string): string {
  const { stdout, stderr } = runTool('go', ['mod', 'download', '-json', module]);
  const { Dir, Error: problem } = JSON.parse(stdout || '{}') as { Dir?: string; Error?: string };
  if (!Dir) throw new Error(`${module} cannot be had: ${problem ?? stderr}`);
  return Dir;
}

/** Definitions that say "string" and also accept numbers. */
const TAKES_NUMBERS_TOO = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['string', 'integer'] },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: ['string', 'number'] },
};

interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

function kindsOf(definition: Tree): GroupVersionKind[] {
  return (definition['x-kubernetes-group-version-kind'] ?? []) as GroupVersionKind[];
}

function writeSchema(
  folder: string,
  group: string,
  version: string,
  kind: string,
  schema: Tree,
): void {
  writeFileSync(
    join(folder, `${group || version}_${version}_${kind.toLowerCase()}.json`),
    JSON.stringify(schema),
  );
}

/** Closes objects with named properties, like the strict validation of the API server. */
function strict(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(strict);
  if (!isTree(node)) return node;
  const copy: Tree = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, strict(value)]),
  );
  const isOpen = copy['x-kubernetes-preserve-unknown-fields'] === true;
  if (isTree(node.properties) && node.type === 'object' && !isOpen) {
    copy.additionalProperties ??= false;
  }
  return copy;
}

/** A definition and every definition that it refers to. */
function reachable(name: string, definitions: Record<string, Tree>): Record<string, Tree> {
  const found: Record<string, Tree> = {};
  const waiting = [name];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const definition = definitions[next];
    if (definition === undefined || next in found) continue;
    found[next] = definition;
    for (const [, referred = ''] of JSON.stringify(definition).matchAll(
      /"\$ref":"#\/definitions\/([^"]+)"/g,
    )) {
      waiting.push(referred);
    }
  }
  return found;
}
