import { AgentGateway } from '@agent-gateway/client';
import { agentTool, defineAgent } from '@agent-gateway/client/agent';
import { serve } from '@restatedev/restate-sdk';
import { complete } from './model.ts';

const { GATEWAY_URL = '', GATEWAY_API_KEY = '', PORT = '9082' } = process.env;
const { CATALOG_URL, CATALOG_TOKEN } = process.env;
const access = {
  gatewayUrl: GATEWAY_URL,
  apiKey: GATEWAY_API_KEY,
  catalogUrl: CATALOG_URL,
  catalogToken: CATALOG_TOKEN,
};

const researcher = defineAgent({
  ...access,
  name: 'researcher',
  generate: (generation) => complete({ ...generation, system: 'You research orders.' }),
});

const writer = defineAgent({
  ...access,
  name: 'writer',
  tools: {
    weather: ({ city }: { city: string }) => ({ city, degrees: 21 }),
    refund: {
      approval: true,
      // In place of this, pay. The key is the same at every attempt.
      run: ({ amount }: { amount: number }, { key }) => ({ refunded: amount, receipt: key }),
    },
    research: agentTool({
      type: 'researcher',
      // The id begins with that of the writer, so whoever may read the writer may read it.
      id: (_, { agent, call }) => `${agent.id}-${call.id}`,
      message: ({ question }: { question: string }) => question,
    }),
  },
  generate: (generation) => complete({ ...generation, tools: ['weather', 'refund', 'research'] }),
});

const services = [...researcher.services, ...writer.services];
const port = await serve({ services, port: Number(PORT) });

// Restate runs on this machine, too. `force`: what was registered at this address before is replaced.
const gateway = new AgentGateway({ url: GATEWAY_URL, apiKey: GATEWAY_API_KEY });
await gateway.deployments.register(`http://127.0.0.1:${port}`, { force: true });
console.log(`writer is registered, on port ${port}`);
