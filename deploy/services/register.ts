/** Registers the agents with Restate, through the gateway: GATEWAY_URL, GATEWAY_API_KEY, AGENTS_URL. */
import { registerAgents } from '../../local/stack/register.ts';

const { GATEWAY_URL, GATEWAY_API_KEY, AGENTS_URL } = process.env;
if (!GATEWAY_URL || !GATEWAY_API_KEY || !AGENTS_URL) {
  throw new Error('register: GATEWAY_URL, GATEWAY_API_KEY and AGENTS_URL are required');
}
await registerAgents(GATEWAY_URL, GATEWAY_API_KEY, AGENTS_URL);
process.stdout.write(`registered ${AGENTS_URL}\n`);
