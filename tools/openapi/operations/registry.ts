import { ANYTHING, type Answer, type Answers } from '../answers.ts';
import type { RequestBody } from '../openapi.ts';
import type { OperationPart, OperationParts } from '../operation-part.ts';

const json = (description: string, schema: string, value: unknown): Answer => ({
  description,
  content: {
    'application/json': {
      schema: { $ref: `#/components/schemas/${schema}` },
      examples: { example: { value } },
    },
  },
});

/** Responses that Restate may send to any request. */
const refusals: Answers = Object.fromEntries(
  Object.entries({
    400: 'Restate cannot read the request.',
    404: 'Restate has no such thing.',
    405: 'Restate has no such method here.',
    409: 'It is at odds with what Restate has.',
    500: 'Restate failed, or what it had to call did.',
    503: 'Restate is not ready.',
  }).map(([status, description]) => [status, { description, content: ANYTHING }]),
);

const anyBody: RequestBody = {
  description: "As Restate's own document says.",
  required: false,
  content: {
    'application/json': { schema: {}, examples: { service: { value: { public: false } } } },
    ...ANYTHING,
  },
};

const forwarded = (
  operationId: string,
  summary: string,
  requestBody?: RequestBody,
): OperationPart => ({
  operationId,
  summary,
  description:
    "Restate's admin API. Its own OpenAPI document is at `/registry/openapi`; its paths are below `/registry`.",
  ...(requestBody && { requestBody }),
  upstream: {
    ...refusals,
    200: { description: 'As Restate answers.', content: ANYTHING },
  },
  problems: [],
});

const list: OperationPart = {
  operationId: 'listDeployments',
  summary: 'List the deployments',
  description: 'All that are registered, with their services.',
  path: '/registry/deployments',
  upstream: {
    ...refusals,
    200: json('The deployments.', 'DeploymentList', {
      deployments: [{ id: 'dp_17QPhZKGXQjW5Tt4AhfTgm3', uri: 'http://agents:9080/' }],
    }),
  },
  problems: [],
  head: { operationId: 'headDeployments', summary: 'The same, the headers alone' },
};

const REGISTERED = {
  id: 'dp_17QPhZKGXQjW5Tt4AhfTgm3',
  services: [{ name: 'assistant', ty: 'VirtualObject', revision: 1 }],
};

const register: OperationPart = {
  operationId: 'registerDeployment',
  summary: 'Register a deployment',
  description:
    'Restate dials `uri` itself, from where it runs; the gateway changes no URL. From a container ' +
    "use the service's name on the container network, never `localhost`, which is the container.",
  path: '/registry/deployments',
  requestBody: {
    description: 'Where the agents are served.',
    required: true,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/RegisterDeployment' },
        examples: { service: { value: { uri: 'http://agents:9080' } } },
      },
    },
  },
  upstream: {
    ...refusals,
    200: { ...json('It was there already.', 'Deployment', REGISTERED), sometimes: ['Location'] },
    201: { ...json('Registered.', 'Deployment', REGISTERED), sometimes: ['Location'] },
    422: { description: 'The body is not one that Restate takes.', content: ANYTHING },
  },
  problems: [],
};

export const REGISTRY: OperationParts = {
  'RegistryController.read': [
    list,
    {
      ...forwarded('readRegistry', "Read anything else of Restate's admin API"),
      head: { operationId: 'headRegistry', summary: 'The same, the headers alone' },
    },
  ],
  'RegistryController.register': [
    register,
    forwarded('postToRegistry', "POST to Restate's admin API", anyBody),
  ],
  'RegistryController.replace': [forwarded('putToRegistry', "PUT to Restate's admin API", anyBody)],
  'RegistryController.update': [
    forwarded('patchRegistry', "PATCH in Restate's admin API", anyBody),
  ],
  'RegistryController.remove': [
    forwarded('deleteFromRegistry', "DELETE from Restate's admin API", anyBody),
  ],
};

export const REGISTRY_SCHEMAS = {
  RegisterDeployment: {
    type: 'object',
    description: "The part that matters; Restate's own document has the rest.",
    required: ['uri'],
    properties: {
      uri: { type: 'string', format: 'uri', description: 'http or https, as Restate reaches it.' },
      force: { type: ['boolean', 'null'], description: 'Overwrites one with the same `uri`.' },
    },
  },
  Deployment: {
    type: 'object',
    required: ['id', 'services'],
    properties: {
      id: { type: 'string', description: 'Begins with `dp_`.' },
      services: { type: 'array', items: { type: 'object' } },
    },
  },
  DeploymentList: {
    type: 'object',
    required: ['deployments'],
    properties: { deployments: { type: 'array', items: { type: 'object' } } },
  },
};
