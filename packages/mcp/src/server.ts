import { McpServer, type CallToolResult } from '@modelcontextprotocol/server';
import { APIError, CONTROL_VERBS, type AgentGateway } from '@agent-gateway/client';
import { z } from 'zod';
import { listAgents } from './list-agents.ts';
import { ownAgent } from './own-agent.ts';
import { readTimeline } from './read-timeline.ts';

const MAX_WAIT_SECONDS = 45;
const RETRY_FOR_MS = 10_000;

const AGENT = z.string().describe('the agent: type/id, such as assistant/ada');

const READS = { readOnlyHint: true, openWorldHint: false };
const CHANGES = { readOnlyHint: false, openWorldHint: false };

/** The tools for the agents of one gateway. None decides a call that waits for a person: an assistant is none. */
export function createServer(gateway: AgentGateway, version: string): McpServer {
  const server = new McpServer({ name: 'agent-gateway', version });
  addReadingTools(server, gateway);
  addCommandTools(server, gateway);
  return server;
}

function addReadingTools(server: McpServer, gateway: AgentGateway): void {
  server.registerTool(
    'list_agents',
    {
      title: 'List agents',
      description:
        'Lists agents with their status (idle, running, paused, archived, failing; waiting: for a person to decide; failed: ' +
        'the last message was not answered).',
      inputSchema: z.object({
        type: z.string().optional().describe('only agents of this type'),
        status: z.string().optional().describe('only agents with this status'),
        limit: z.int().min(1).max(1_000).default(100).describe('the most agents to list'),
      }),
      annotations: READS,
    },
    (request, { mcpReq: { signal } }) => answer(() => listAgents(gateway, request, signal)),
  );
  server.registerTool(
    'read_timeline',
    {
      title: 'Read a timeline',
      description:
        'Reads what an agent was told, did and said, from a cursor on. Give the cursor of one call to the next. With ' +
        'waitSeconds, a call without new events waits for them until the agent has replied.',
      inputSchema: z.object({
        agent: AGENT,
        cursor: z.string().optional().describe('of an earlier call; without it from the start'),
        waitSeconds: z.number().min(0).max(MAX_WAIT_SECONDS).default(0),
        limit: z.int().min(1).max(1_000).default(200).describe('the most events to read'),
      }),
      annotations: READS,
    },
    (request, { mcpReq: { signal } }) =>
      answer(() => {
        const agent = ownAgent(request.agent, gateway.tenant);
        return readTimeline(gateway, { ...request, agent }, signal);
      }),
  );
}

function addCommandTools(server: McpServer, { agents, tenant }: AgentGateway): void {
  server.registerTool(
    'spawn_agent',
    {
      title: 'Spawn an agent',
      description: 'Creates an agent. One that exists stays as it is.',
      inputSchema: z.object({
        type: z.string().describe('a registered type, such as assistant'),
        id: z.string().optional().describe('its id; without it a new one'),
        // Strict clients refuse a parameter without one type.
        args: z.looseObject({}).optional().describe('arguments for the agent'),
      }),
      annotations: CHANGES,
    },
    (request, { mcpReq: { signal } }) =>
      answer(() => agents.spawn(definedOf(request), { signal, retryForMs: RETRY_FOR_MS })),
  );
  server.registerTool(
    'send_message',
    {
      title: 'Send a message',
      description: 'Sends a text to an agent. Read its timeline to see the reply.',
      inputSchema: z.object({ agent: AGENT, text: z.string() }),
      annotations: CHANGES,
    },
    ({ agent, text }, { mcpReq: { signal } }) => {
      const message = { kind: 'message', content: [{ type: 'text', text }] };
      const options = { signal, retryForMs: RETRY_FOR_MS };
      return answer(() => agents.send(ownAgent(agent, tenant), message, options));
    },
  );
  server.registerTool(
    'control_agent',
    {
      title: 'Control an agent',
      description: 'Interrupts, pauses, resumes or archives an agent. An archived agent stays so.',
      inputSchema: z.object({
        agent: AGENT,
        verb: z.enum(CONTROL_VERBS),
        reason: z.string().optional().describe('why, for the timeline'),
      }),
      annotations: { ...CHANGES, destructiveHint: true },
    },
    ({ agent, verb, reason }, { mcpReq: { signal } }) => {
      const options = { signal, retryForMs: RETRY_FOR_MS, ...definedOf({ reason }) };
      return answer(() => agents.control(ownAgent(agent, tenant), verb, options));
    },
  );
}

/** The result as JSON. The model gets the reason of a refusal, and can ask for something else. */
async function answer(work: () => Promise<unknown>): Promise<CallToolResult> {
  try {
    return { content: [{ type: 'text', text: JSON.stringify(await work()) }] };
  } catch (error) {
    if (!(error instanceof APIError) && !(error instanceof TypeError)) throw error;
    return { isError: true, content: [{ type: 'text', text: inWords(error) }] };
  }
}

function inWords(error: APIError | TypeError): string {
  if (error instanceof TypeError) return error.message;
  const { status, code, detail } = error;
  return `${status === undefined ? 'No answer of the gateway' : `${status} ${code}`}: ${detail}`;
}

/** Without the fields that are undefined. */
function definedOf<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}
