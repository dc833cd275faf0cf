import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  bytesIn,
  decodeProtobuf,
  messagesIn,
  textIn,
  type ProtobufMessage,
} from '../support/protobuf.ts';
import { isTree, type Tree } from './chart.ts';

/** The kinds that Helm needs here: its own Secrets, and what the chart makes of minimal values and an HPA. */
const KINDS: Record<string, [plural: string, kind: string][]> = {
  v1: [
    ['secrets', 'Secret'],
    ['services', 'Service'],
    ['serviceaccounts', 'ServiceAccount'],
  ],
  'apps/v1': [['deployments', 'Deployment']],
  'autoscaling/v2': [['horizontalpodautoscalers', 'HorizontalPodAutoscaler']],
  'policy/v1': [['poddisruptionbudgets', 'PodDisruptionBudget']],
};
const GROUPS = Object.keys(KINDS).filter((version) => version !== 'v1');

/** An API server that keeps objects and does nothing with them, over plain HTTP, for Helm. */
export async function startApiServerStub(version: string) {
  const objects = new Map<string, Tree>();
  const server = createServer((request, response) => {
    answer(request).then(
      ([status, body]) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      },
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });

  async function answer(request: IncomingMessage): Promise<[number, unknown]> {
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://stub');
    const found = discovered(path, version);
    if (found) return [200, found];
    const kept = objects.get(path);
    if (request.method === 'GET') {
      // Nobody lists anything else.
      if (path.endsWith('/secrets')) {
        const wanted = (searchParams.get('labelSelector') ?? '').split(',').filter(Boolean);
        const items = [...objects].filter(
          ([key, object]) => key.startsWith(`${path}/`) && wanted.every(hasLabel(object)),
        );
        return [
          200,
          { kind: 'SecretList', apiVersion: 'v1', items: items.map(([, object]) => object) },
        ];
      }
      return kept ? [200, kept] : [404, NOT_FOUND];
    }
    if (request.method === 'DELETE') {
      objects.delete(path);
      return kept ? [200, kept] : [404, NOT_FOUND];
    }
    const body = bodyOf(await buffer(request), request.headers['content-type'] ?? '');
    const [key, object] =
      request.method === 'POST'
        ? [`${path}/${String((body.metadata as Tree).name)}`, body]
        : [path, request.method === 'PATCH' ? patched(kept ?? {}, body) : body];
    const whole = withDefaults(object);
    objects.set(key, whole);
    return [request.method === 'POST' ? 201 : 200, whole];
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    flags: [`--kube-apiserver=${url}`],
    call: async (method: string, path: string, body?: unknown): Promise<string> => {
      const answered = await fetch(url + path, { method, body: JSON.stringify(body) });
      return answered.text();
    },
    stop: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

const NOT_FOUND = {
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  reason: 'NotFound',
  code: 404,
};

/** Helm sends its own Secrets as protocol buffers, and all else as JSON. */
function bodyOf(bytes: Buffer, type: string): Tree {
  if (!type.includes('protobuf')) return JSON.parse(bytes.toString()) as Tree;
  // After four bytes that say so, a message with the object in its second field.
  const secret = decodeProtobuf(bytesIn(decodeProtobuf(bytes.subarray(4)), 2));
  const [metadata = new Map()] = messagesIn(secret, 1);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: textIn(secret, 3),
    metadata: { name: textIn(metadata, 1), labels: mapIn(metadata, 11, 'utf8') },
    data: mapIn(secret, 2, 'base64'),
  };
}

function mapIn(message: ProtobufMessage, field: number, encoding: BufferEncoding): Tree {
  const entries = messagesIn(message, field);
  return Object.fromEntries(
    entries.map((one) => [textIn(one, 1), bytesIn(one, 2).toString(encoding)]),
  );
}

function hasLabel(object: Tree): (wanted: string) => boolean {
  const labels = (object.metadata as Tree).labels as Tree | undefined;
  return (wanted) => {
    const [key = '', value] = wanted.split('=');
    return labels?.[key] === value;
  };
}

/** What a client asks first: the version, the groups, and the kinds of each. */
function discovered(path: string, gitVersion: string): Tree | undefined {
  const [major, minor] = gitVersion.split('.');
  if (path === '/version') return { major, minor, gitVersion: `v${gitVersion}` };
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (path === '/apis') {
    const groups = GROUPS.map((groupVersion) => {
      const version = { groupVersion, version: groupVersion.split('/')[1] };
      return { name: groupVersion.split('/')[0], versions: [version], preferredVersion: version };
    });
    return { kind: 'APIGroupList', apiVersion: 'v1', groups };
  }
  const groupVersion = path.replace(/^\/apis?\//, '');
  const resources = KINDS[groupVersion]?.map(([name, kind]) => {
    return { name, singularName: '', namespaced: true, kind, verbs: ['get', 'list', 'create'] };
  });
  return resources && { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
}

/** A Deployment without a number of copies gets one. */
function withDefaults(object: Tree): Tree {
  if (object.kind !== 'Deployment') return object;
  return { ...object, spec: { replicas: 1, ...(object.spec as Tree) } };
}

/** A strategic merge patch as far as Helm makes one here: null removes, lists of named things merge by name. */
function patched(kept: unknown, patch: unknown): Tree {
  const result: Tree = isTree(kept) ? { ...kept } : {};
  for (const [key, value] of Object.entries(patch as Tree)) {
    if (key.startsWith('$')) continue;
    if (value === null) delete result[key];
    else if (isTree(value)) result[key] = patched(result[key], value);
    else if (areNamed(value) && areNamed(result[key])) {
      const byName = new Map((result[key] as Tree[]).map((one) => [one.name, one]));
      for (const one of value as Tree[]) byName.set(one.name, patched(byName.get(one.name), one));
      result[key] = [...byName.values()];
    } else result[key] = value;
  }
  return result;
}

function areNamed(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => isTree(one) && 'name' in one);
}
