import { AgentGateway } from '@agent-gateway/client';
import { defineAgent } from '@agent-gateway/client/agent';
import { serve } from '@restatedev/restate-sdk';
import { complete } from './model.ts';

const { GATEWAY_URL = '', GATEWAY_API_KEY = '', CATALOG_URL, PORT = '9082' } = process.env;

const writer = defineAgent({
  name: 'writer',
  gatewayUrl: GATEWAY_URL,
  apiKey: GATEWAY_API_KEY,
  catalogUrl: CATALOG_URL,
  tools: {
    weather: ({ city }: { city: string }) => ({ city, degrees: 21 }),
  },
  generate: ({ turns, message, written, signal }) =>
    complete({
      messages: [
        ...turns.flatMap((turn) => [
          { role: 'user', content: turn.message },
          { role: 'assistant', content: turn.reply },
        ]),
        { role: 'user', content: message.text },
      ],
      written,
      signal,
    }),
});

const port = await serve({ services: writer.services, port: Number(PORT) });

// Restate runs on this machine, too. `force`: what was registered at this address before is replaced.
const gateway = new AgentGateway({ url: GATEWAY_URL, apiKey: GATEWAY_API_KEY });
await gateway.deployments.register(`http://127.0.0.1:${port}`, { force: true });
console.log(`writer is registered, on port ${port}`);
