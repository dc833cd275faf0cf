import { createServer } from 'node:http2';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEndpointHandler, handlers, object, serde } from '@restatedev/restate-sdk';

/**
 * An agent that does next to nothing, in a process of its own: it counts what reaches it. Prints
 * where Restate finds it and where it tells the count.
 */
let handled = 0;
const wake = handlers.object.exclusive({ accept: '*/*', input: serde.binary }, async () => {
  handled++;
});
const agents = createServer(
  createEndpointHandler({ services: [object({ name: 'bench', handlers: { wake } })] }),
);
const counter = createHttpServer((_, response) => {
  response.end(JSON.stringify({ handled }));
});

agents.listen(0, '127.0.0.1', () => {
  counter.listen(0, '127.0.0.1', () => {
    console.log(
      JSON.stringify({ uri: urlOf(agents.address()), countUrl: urlOf(counter.address()) }),
    );
  });
});

function urlOf(address: string | AddressInfo | null): string {
  return `http://127.0.0.1:${(address as AddressInfo).port}`;
}
