import { ControlDto } from '../../src/commands/dto/control.dto.ts';
import { SpawnDto } from '../../src/commands/dto/spawn.dto.ts';
import type { CommandResponse } from '../../src/commands/commands.service.ts';
import { ADDRESS_PATTERNS } from '../../src/contract/address-patterns.ts';
import { dtoSchema, reservedTypes } from './dto-schema.ts';
import type { Schema } from './openapi.ts';
import { REGISTRY_SCHEMAS } from './operations/registry.ts';
import { SHAPE_MESSAGE } from './operations/shapes.ts';
import { PROBLEM_SCHEMA } from './problems.ts';

/** The patterns of the parts of an address, for longer patterns. */
const [TENANT, TYPE, ID] = [
  ADDRESS_PATTERNS.tenant,
  ADDRESS_PATTERNS.type,
  ADDRESS_PATTERNS.id,
].map(({ source }) => source.slice(1, -1));

const spawnCommand = dtoSchema(SpawnDto, 'What to spawn. Each field may be given once.', {
  type: { description: 'The entity type. Not `restate` or `openapi`, in any case.' },
  id: { description: 'The instance; made where there is none.' },
  args: { description: 'For the agent: any JSON. The gateway does not look into it.' },
  // These two are checked after the DTO, when the tenant is known.
  parent: {
    description: "The parent's entity URL; it must be of this deployment's tenant.",
    pattern: `^/t/${TENANT}/a/${TYPE}/${ID}$`,
    not: { type: 'string', pattern: `^/t/[^/]*/a/(?:${reservedTypes()})/` },
  },
  workspaceRef: {
    description:
      "A shared workspace, `<tenant>/<name>` with this deployment's tenant; without it the agent gets its own.",
    pattern: `^${TENANT}/${ID}$`,
  },
});

const controlCommand = dtoSchema(ControlDto, 'What the agent is to do. `verb` may be given once.', {
  verb: { description: 'What it means is up to the agent.' },
  reason: { description: 'Free text, for the agent.' },
});

const commandAnswer: Schema = {
  type: 'object',
  required: ['url', 'streamPath', 'streamUrl', 'restate'],
  properties: {
    url: { type: 'string', description: 'The entity URL.', pattern: '^/t/[^/]+/a/[^/]+/[^/]+$' },
    streamPath: { type: 'string', description: "The timeline's path in the history store." },
    streamUrl: {
      type: 'string',
      description: 'Where to read it, at this gateway.',
      pattern: '^/streams/t/[^/]+/agents/[^/]+/[^/]+/timeline$',
    },
    restate: {
      type: 'object',
      required: ['invocationId'],
      properties: { invocationId: { type: 'string', pattern: '^inv_' } },
      additionalProperties: false,
    },
  } satisfies Record<keyof CommandResponse, Schema>,
  additionalProperties: false,
};

const health: Schema = {
  type: 'object',
  required: ['status', 'info', 'error', 'details'],
  properties: {
    status: { const: 'ok' },
    info: { type: 'object' },
    error: { type: 'object' },
    details: { type: 'object' },
  },
};

export const SCHEMAS: Record<string, Schema> = {
  SpawnCommand: spawnCommand,
  ControlCommand: controlCommand,
  CommandAnswer: commandAnswer,
  ShapeMessage: SHAPE_MESSAGE,
  ...REGISTRY_SCHEMAS,
  Health: health,
  Problem: PROBLEM_SCHEMA,
};
