export { AgentGateway, type AgentGatewayOptions } from './gateway.ts';
export { APIError, type FieldError } from './api-error.ts';
export type { EntityAddress } from './address.ts';
export type {
  AcceptedCommand,
  Agents,
  CommandOptions,
  ControlOptions,
  MessageOptions,
  NewDecision,
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
  RegisteredDeployment,
  Deployments,
  RegisterOptions,
  RemoveOptions,
  Service,
} from './deployments.ts';
export type { EntityRow } from './entity-row.ts';
export {
  CONTROL_VERBS,
  EVENT_KINDS,
  textOf,
  type AgentEvent,
  type AgentStatus,
  type ControlVerb,
  type DataEvent,
  type DecisionEvent,
  type ErrorEvent,
  type LocatedEvent,
  type MessageEvent,
  type NewAgentEvent,
  type Part,
  type ReasoningEvent,
  type RefusedEvent,
  type ReplyEvent,
  type RestoredEvent,
  type SpawnedEvent,
  type StatusEvent,
  type Stop,
  type TextPart,
  type TimelineEvent,
  type ToolEvent,
  type Usage,
  type WordEvent,
} from './events.ts';
export { agentsNow, type AgentFailure, type FailingRow } from './failures.ts';
export type { ForgetOptions, ForgetReceipt } from './forget.ts';
export type {
  FailuresOptions,
  Invocation,
  Invocations,
  ListInvocationsOptions,
} from './invocations.ts';
export type { LiveOptions, LiveState } from './live-state.ts';
export { runsOf, type Run, type RunState, type WaitingCall } from './run.ts';
export type { RunStep } from './run-steps.ts';
export type { ListRunsOptions, RunList, Runs } from './runs.ts';
export type { SchemaIssue, StandardSchema } from './standard-schema.ts';
export type { Stream, StreamOptions } from './stream.ts';
export type { StreamChunk } from './stream-follower.ts';
export type { Bookmark, Gap, Timeline, TimelineOptions } from './timeline.ts';
export type { RequestOptions } from './transport.ts';
export {
  isOpen,
  type Conversation,
  type Note,
  type Turn,
  type TurnMessage,
  type TurnState,
} from './turn.ts';
export type { DataPart, Decision, ReasoningPart, ToolCall, TurnPart } from './turn-parts.ts';
