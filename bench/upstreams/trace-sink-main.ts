import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Receives spans like an OpenTelemetry collector and drops them. A GET returns how many bytes it has received. */
let bytes = 0;
const sink = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ bytes }));
    return;
  }
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  request.on('end', () =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  );
});
sink.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(sink.address() as AddressInfo).port}`);
});
