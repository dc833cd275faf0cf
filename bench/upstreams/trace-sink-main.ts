import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Takes spans as an OpenTelemetry collector does, and throws them away. A GET tells how many bytes came. */
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
