export { answer, type AnswerOptions } from './answer.ts';
export { readControl, readSpawn, type Control, type Spawn } from './command.ts';
export { catalogRowWriter } from './catalog-row.ts';
export type { EntityRow } from '../entity-row.ts';
export { defineAgent, type Agent, type AgentDefinition } from './define-agent.ts';
export {
  command,
  findEntity,
  keepRow,
  openEntity,
  record,
  requestIdOf,
  type AgentOptions,
  type Entity,
} from './entity.ts';
export type { GatewayAccess } from './gateway-client.ts';
export type {
  Generate,
  Generation,
  PastTurn,
  ToolRequest,
  ToolResult,
  WrittenPart,
} from './generation.ts';
export type { Json } from './json.ts';
export { readMessage, type Message, type ReadMessage } from './message.ts';
export { retryForever } from './retry-forever.ts';
export type { NewEvent, Timeline } from './timeline.ts';
export type { Tool, ToolContext } from './tools.ts';
