import { readFile } from 'node:fs/promises';
import { declaredRoutes, type DeclaredRoute } from './declared-routes.ts';
import { headerComponents } from './headers.ts';
import { INFO, SECURITY_SCHEMES, SERVERS, TAGS } from './about.ts';
import type { OpenApiDocument, Operation, PathItem } from './openapi.ts';
import { describeOperation } from './operation.ts';
import type { OperationPart, OperationParts } from './operation-part.ts';
import { COMMANDS } from './operations/commands.ts';
import { HEALTH } from './operations/health.ts';
import { REGISTRY } from './operations/registry.ts';
import { SHAPES } from './operations/shapes.ts';
import { STREAMS } from './operations/stream-writes.ts';
import { PARAMETERS } from './parameters.ts';
import { describePreflight } from './preflight.ts';
import { problemExamples } from './problems.ts';
import { SCHEMAS } from './schemas.ts';
import { withSharedResponses } from './shared-responses.ts';
import { withoutUnused } from './unused-components.ts';

const PARTS: OperationParts = { ...COMMANDS, ...STREAMS, ...SHAPES, ...REGISTRY, ...HEALTH };

/**
 * The OpenAPI document of the public port. Its routes come from the controllers, its command schemas from the
 * validators, and its errors from the error table. Throws if a route has no description, or a description no route.
 */
export async function openApiDocument(
  parts = PARTS,
  routes?: DeclaredRoute[],
): Promise<OpenApiDocument> {
  const { version } = JSON.parse(
    await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as { version: string };
  const document = withSharedResponses({
    openapi: '3.1.1',
    info: { ...INFO, version },
    servers: SERVERS,
    tags: TAGS,
    paths: describePaths(routes ?? (await declaredRoutes()), parts),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: SCHEMAS,
      parameters: PARAMETERS,
      headers: headerComponents(),
      responses: {},
      examples: problemExamples(),
    },
  });
  return withoutUnused(document);
}

function describePaths(routes: DeclaredRoute[], parts: OperationParts): Record<string, PathItem> {
  const handlers = new Set(routes.map(({ handler }) => handler));
  const orphan = Object.keys(parts).find((handler) => !handlers.has(handler));
  if (orphan !== undefined) throw new Error(`there is no route of ${orphan}`);
  const paths: Record<string, PathItem> = {};
  for (const route of routes) {
    const described = parts[route.handler];
    if (!described) throw new Error(`${route.handler} has no description in openapi/operations`);
    for (const part of described) {
      const path = part.path ?? route.path;
      Object.assign((paths[path] ??= {}), describeMethods(route, path, part));
    }
  }
  return paths;
}

/** A GET implies HEAD, as in Express, and a preflight where there is CORS. */
function describeMethods(route: DeclaredRoute, path: string, part: OperationPart): PathItem {
  const item: PathItem = { [route.method]: describeOperation(route, path, part) };
  if (route.method !== 'get') return item;
  if (!part.head) throw new Error(`${part.operationId}: HEAD has no description`);
  item.head = describeHead(route, path, { ...part, ...part.head });
  if (part.preflightId !== undefined) {
    item.options = describePreflight(part.preflightId, path, route.tag);
  }
  return item;
}

function describeHead(route: DeclaredRoute, path: string, part: OperationPart): Operation {
  return describeOperation({ ...route, method: 'head' }, path, part);
}
