export { agentTransport, type AgentTransport, type TransportOptions } from './agent-transport.ts';
export { uiMessages, type AgentMessage, type AgentMessageMetadata } from './ui-messages.ts';
