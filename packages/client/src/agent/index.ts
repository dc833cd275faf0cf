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
  type Receipt,
} from './entity.ts';
export type { GatewayAccess } from './gateway-client.ts';
export type {
  Decision,
  Generate,
  GeneratedPart,
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
export {
  agentTool,
  type AgentTool,
  type ChildOptions,
  type Tool,
  type ToolAgent,
  type ToolContext,
  type ToolDefinition,
  type ToolFunction,
  type ToolRules,
} from './tools.ts';
export { AttemptEnded, TurnStopped, type AnswerRules } from './turn-run.ts';
export type { PublicReason } from './failure.ts';
