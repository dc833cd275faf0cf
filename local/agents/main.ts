/**
 * The example agents as a process: AGENTS_PORT (default 9080), AGENTS_HOST (default 127.0.0.1),
 * GATEWAY_URL, GATEWAY_API_KEY, CATALOG_URL (without it no rows), CATALOG_TOKEN, AGENT_WORD_DELAY_MS (default 40).
 * AGENTS_SYSTEM is the path of their address. AGENTS_IDENTITY_KEY is the public key of the only runtime that may give them
 * work; without it any may.
 */
import { startAgents } from './agents-server.ts';

const {
  AGENTS_PORT,
  AGENTS_HOST,
  AGENTS_IDENTITY_KEY,
  AGENTS_SYSTEM,
  GATEWAY_URL,
  GATEWAY_API_KEY,
  CATALOG_TOKEN,
  CATALOG_URL,
  AGENT_WORD_DELAY_MS,
} = process.env;

if (!GATEWAY_URL || !GATEWAY_API_KEY) {
  console.error('agents: GATEWAY_URL and GATEWAY_API_KEY are required');
  process.exit(1);
}

// Restate runs an aborted handler again from its journal, so there is nothing to wait for.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));

const agents = await startAgents({
  port: Number(AGENTS_PORT || 9080),
  host: AGENTS_HOST || '127.0.0.1',
  identityKey: AGENTS_IDENTITY_KEY || undefined,
  systemName: AGENTS_SYSTEM || undefined,
  gatewayUrl: GATEWAY_URL.replace(/\/$/, ''),
  apiKey: GATEWAY_API_KEY,
  catalogUrl: CATALOG_URL ? CATALOG_URL.replace(/\/$/, '') : undefined,
  catalogToken: CATALOG_TOKEN || undefined,
  wordDelayMs: Number(AGENT_WORD_DELAY_MS || 40),
});
console.log(`agents listening on ${agents.url}`);
