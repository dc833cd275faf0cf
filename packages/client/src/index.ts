export { AgentGateway, type AgentGatewayOptions } from './gateway.ts';
export { APIError, type FieldError } from './api-error.ts';
export type { EntityAddress } from './address.ts';
export type {
  AcceptedCommand,
  Agents,
  CommandOptions,
  ControlOptions,
  MessageOptions,
  SpawnRequest,
} from './agents.ts';
export { Answer, type AskOptions } from './answer.ts';
export { AnswerError, type AnswerErrorCode } from './answer-error.ts';
export type { Catalog, CatalogOptions } from './catalog.ts';
export type { CatalogChange } from './catalog-rows.ts';
export { conversation } from './conversation.ts';
export { SessionEnded, type CredentialOptions, type MintedToken } from './credential.ts';
export type {
  Deployment,
  Deployments,
  RegisterOptions,
  RemoveOptions,
  Service,
} from './deployments.ts';
export type { EntityRow } from './entity-row.ts';
export {
  EVENT_KINDS,
  textOf,
  type AgentEvent,
  type AgentStatus,
  type ControlVerb,
  type ErrorEvent,
  type MessageEvent,
  type NewAgentEvent,
  type Part,
  type RefusedEvent,
  type ReplyEvent,
  type SpawnedEvent,
  type StatusEvent,
  type Stop,
  type TextPart,
  type TimelineEvent,
  type ToolEvent,
  type WordEvent,
} from './events.ts';
export type { Invocation, Invocations, ListInvocationsOptions } from './invocations.ts';
export type { LiveOptions, LiveState } from './live-state.ts';
export type { SchemaIssue, StandardSchema } from './standard-schema.ts';
export type { Stream, StreamOptions } from './stream.ts';
export type { StreamChunk } from './stream-follower.ts';
export type { Bookmark, Gap, Timeline, TimelineOptions } from './timeline.ts';
export type { RequestOptions } from './transport.ts';
export {
  isOpen,
  type Conversation,
  type Note,
  type ToolCall,
  type Turn,
  type TurnMessage,
  type TurnState,
} from './turn.ts';
