import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ERROR_CODES } from '../../src/platform/errors/error-codes.ts';
import { SchemaJudge } from '../../test/support/contract/schema-judge.ts';
import { declaredRoutes, type DeclaredRoute } from './declared-routes.ts';
import { openApiDocument } from './document.ts';
import type { MediaType, OpenApiDocument, Operation, Reference, Response } from './openapi.ts';

const COMMITTED = new URL('../../docs/openapi.json', import.meta.url);

let routes: DeclaredRoute[];
let document: OpenApiDocument;
beforeAll(async () => {
  routes = await declaredRoutes();
  document = await openApiDocument(undefined, routes);
});

function operations(): Operation[] {
  return Object.values(document.paths).flatMap((item) => Object.values(item));
}

function resolve<T extends object>(value: T | Reference): T {
  if (!('$ref' in value)) return value;
  const keys = value.$ref.slice(2).split('/');
  return keys.reduce<unknown>((part, key) => Reflect.get(part as object, key), document) as T;
}

/** What requests and answers may hold, by where it stands. */
function contents(): [string, MediaType][] {
  return operations().flatMap(({ operationId, requestBody, responses }) => [
    ...Object.entries(requestBody?.content ?? {}).map(([type, media]): [string, MediaType] => [
      `${operationId} ${type}`,
      media,
    ]),
    ...Object.entries(responses).flatMap(([status, response]) =>
      Object.entries(resolve<Response>(response).content ?? {}).map(
        ([type, media]): [string, MediaType] => [`${operationId} ${status} ${type}`, media],
      ),
    ),
  ]);
}

function examplesOf({ example, examples = {} }: MediaType): unknown[] {
  const named = Object.values(examples).map((entry) => resolve(entry).value);
  return example === undefined ? named : [example, ...named];
}

describe('docs/openapi.json', () => {
  it('is what the code says: else run `npm run openapi` and commit it', async () => {
    expect(JSON.parse(await readFile(COMMITTED, 'utf8'))).toEqual(document);
  });

  // Clients are generated with methods of these names: a new one may come, none may go.
  it('has stable operation ids', () => {
    expect(operations().map(({ operationId }) => operationId)).toEqual([
      'spawnAgent',
      'spawnAgentInTenant',
      'sendMessage',
      'sendMessageInTenant',
      'controlAgent',
      'controlAgentInTenant',
      'readStream',
      'headStream',
      'preflightStream',
      'createStream',
      'appendToStream',
      'deleteStream',
      'readShape',
      'headShape',
      'preflightShape',
      'readSyncEngine',
      'headSyncEngine',
      'preflightSyncEngine',
      'listDeployments',
      'headDeployments',
      'registerDeployment',
      'readRegistry',
      'headRegistry',
      'putToRegistry',
      'postToRegistry',
      'patchRegistry',
      'deleteFromRegistry',
      'getHealth',
      'headHealth',
    ]);
  });

  it('names for every operation the credential that its route asks for', () => {
    const opens = (operationId: string): string[] =>
      operations()
        .find((operation) => operation.operationId === operationId)
        ?.security.flatMap(Object.keys) ?? ['no such operation'];
    expect(opens('spawnAgent')).toEqual(['apiKey']);
    expect(opens('readStream')).toEqual(['apiKey', 'readToken']);
    expect(opens('headShape')).toEqual(['apiKey', 'readToken']);
    expect(opens('appendToStream')).toEqual(['apiKey']);
    expect(opens('readSyncEngine')).toEqual(['apiKey']);
    expect(opens('registerDeployment')).toEqual(['apiKey']);
    expect(opens('preflightShape')).toEqual([]);
    expect(opens('getHealth')).toEqual([]);
  });

  it('lists every error code with an operation, but for that of no operation at all', () => {
    const text = JSON.stringify(Object.values(document.components.responses));
    const inline = JSON.stringify(document.paths);
    const listed = Object.keys(ERROR_CODES).filter((code) =>
      `${text}${inline}`.includes(`#/components/examples/${code}"`),
    );
    expect(listed).toEqual(Object.keys(ERROR_CODES).filter((code) => code !== 'route_not_found'));
  });

  it('has an example for everything that is not mere bytes, and each fits its schema', () => {
    const judge = new SchemaJudge(document);
    const faults = contents().flatMap(([place, media]) => {
      const examples = examplesOf(media);
      const isBytes = place.endsWith(' */*');
      if (examples.length === 0) return isBytes ? [] : [`${place}: no example`];
      const { schema = {} } = media;
      return examples.flatMap((value) =>
        judge.problems(schema, value).map((problem) => `${place}: ${problem}`),
      );
    });
    expect(faults).toEqual([]);
  });
});

describe('openApiDocument', () => {
  it('refuses a route that nobody has described', async () => {
    const added = { ...routes[0]!, handler: 'NewController.doNew', path: '/new' };
    await expect(openApiDocument(undefined, [...routes, added])).rejects.toThrow(
      'NewController.doNew has no description in openapi/operations',
    );
  });

  it('refuses the description of a route that is gone', async () => {
    const left = routes.filter(({ handler }) => handler !== 'HealthController.check');
    await expect(openApiDocument(undefined, left)).rejects.toThrow(
      'there is no route of HealthController.check',
    );
  });

  it('takes path, method and success status from the controller', async () => {
    const moved = routes.map((route) =>
      route.handler === 'HealthController.check'
        ? { ...route, path: '/alive', method: 'post' as const, successStatus: '299' }
        : route,
    );
    const { paths } = await openApiDocument(undefined, moved);
    expect(Object.keys(paths['/alive']?.post?.responses ?? {})).toEqual([
      '299',
      '400',
      '413',
      '431',
      '500',
      '503',
    ]);
    expect(paths['/health']).toBeUndefined();
  });
});
