#!/usr/bin/env node
/**
 * The MCP server on standard input and output. AGENT_GATEWAY_URL and AGENT_GATEWAY_KEY, or GATEWAY_URL and
 * GATEWAY_API_KEY, say which gateway, and as whom.
 */
import { readFileSync } from 'node:fs';
import { AgentGateway } from '@agent-gateway/client';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createServer } from './server.ts';

const { env } = process;
const url = env.AGENT_GATEWAY_URL || env.GATEWAY_URL || 'http://127.0.0.1:8787';
// A key never goes to an address that was set without it.
const apiKey = env.AGENT_GATEWAY_URL
  ? env.AGENT_GATEWAY_KEY
  : env.AGENT_GATEWAY_KEY || env.GATEWAY_API_KEY;
if (!apiKey) {
  process.stderr.write(
    'agent-gateway-mcp: there is no API key. Set AGENT_GATEWAY_URL and AGENT_GATEWAY_KEY.\n',
  );
  process.exit(2);
}

const description = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
const { version } = JSON.parse(description) as { version: string };
const server = createServer(new AgentGateway({ url, apiKey }), version);
const transport = new StdioServerTransport();
// The assistant has gone: kept connections would keep this process.
transport.onclose = () => process.exit(0);
process.stdin.on('end', () => process.exit(0));
await server.connect(transport);
