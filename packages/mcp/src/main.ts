#!/usr/bin/env node
/** The MCP server on standard input and output. `settings.ts` says which gateway, and as whom. */
import { readFileSync } from 'node:fs';
import type { AgentGateway } from '@agent-gateway/client';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createServer } from './server.ts';
import { gatewayOf, SettingError } from './settings.ts';

const gateway = gatewayOrEnd();
const description = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
const { version } = JSON.parse(description) as { version: string };
// The assistant has gone: kept connections would keep this process.
process.stdin.on('end', () => process.exit(0));
serveStdio(() => createServer(gateway, version));

function gatewayOrEnd(): AgentGateway {
  try {
    return gatewayOf(process.env);
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    process.stderr.write(`agent-gateway-mcp: ${error.message}\n`);
    process.exit(2);
  }
}
