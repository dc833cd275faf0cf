import { ADDRESS_PATTERNS } from '../../src/contract/address-patterns.ts';
import { REQUEST_ID } from '../../src/platform/http/request-id.ts';
import { ENTITY_ID_SCHEMA, ENTITY_TYPE_SCHEMA } from './dto-schema.ts';
import type { Parameter, Reference } from './openapi.ts';

/**
 * The path after the prefix of a proxied route, as plain text. `%` is left out, because clients would encode it
 * again.
 */
const PROXIED_PATH = {
  type: 'string',
  pattern:
    '^[^\\u0000-\\u001f\\u007f-\\u009f\\\\%/]+(?:/[^\\u0000-\\u001f\\u007f-\\u009f\\\\%/]+)*/?$',
  not: { pattern: '(?:^|/)\\.{1,2}(?:/|$)' },
};

const MANY_SEGMENTS =
  'The slashes in it stay as they are, which OpenAPI 3.1 has no way to say: a client that encodes ' +
  'them (`%2F`) gets 400 `malformed_path`. Dot segments, empty segments and control characters are ' +
  'refused alike.';

const inPath = (name: string, description: string, rest: object): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
  ...rest,
});

const proxiedPath = (what: string, example: string): Parameter =>
  inPath('path', `${what} ${MANY_SEGMENTS}`, {
    schema: PROXIED_PATH,
    example,
    'x-multi-segment': true,
  });

const inHeader = (name: string, description: string, example: string): Parameter => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
  example,
});

/** The parameters by the key that operations use. */
export const PARAMETERS: Record<string, Parameter> = {
  tenant: inPath('tenant', 'Must be the tenant of the deployment, else 404 `tenant_not_served`.', {
    schema: { type: 'string', pattern: ADDRESS_PATTERNS.tenant.source },
    example: 'default',
  }),
  type: inPath('type', 'The entity type.', { schema: ENTITY_TYPE_SCHEMA, example: 'assistant' }),
  id: inPath('id', 'The instance of it.', {
    schema: ENTITY_ID_SCHEMA,
    example: '01jd3x5m9q8r7s6t5v4w3x2y1z',
  }),
  streamPath: proxiedPath(
    'The path of the stream: the `streamPath` of a command, without its first slash.',
    't/default/agents/assistant/01jd3x5m9q8r7s6t5v4w3x2y1z/timeline',
  ),
  shapePath: proxiedPath("A path of Electric's.", 'v1/health'),
  registryPath: proxiedPath("A path of Restate's admin API.", 'services/echo'),
  requestId: inHeader(
    'X-Request-Id',
    `Kept where it matches \`${REQUEST_ID.source}\`; anything else is no fault, and is replaced.`,
    'checkout-7f3a',
  ),
  traceparent: inHeader(
    'traceparent',
    'W3C Trace Context, passed on.',
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  ),
  tracestate: inHeader('tracestate', 'Passed on beside `traceparent`.', 'vendor=value'),
};

const PATH_OF_PREFIX: Record<string, string> = {
  streams: 'streamPath',
  shapes: 'shapePath',
  registry: 'registryPath',
};

/** The parameters of paths, and those of every request. */
export function standingParameters(path: string): Reference[] {
  const [, prefix = ''] = path.split('/');
  const inTemplate = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
    name === 'path' ? (PATH_OF_PREFIX[prefix] ?? name) : name,
  );
  return [...inTemplate, 'requestId', 'traceparent', 'tracestate'].map((key) => {
    if (!PARAMETERS[key]) throw new Error(`${path}: no parameter "${key}" is described`);
    return { $ref: `#/components/parameters/${key}` };
  });
}
