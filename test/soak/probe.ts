/**
 * Loaded into a gateway before its own code (`--import`): tells, over a Unix socket, what the process
 * holds. A gateway has no such door of its own.
 */
import { createServer } from 'node:http';
import type { Holdings } from './holdings.ts';

const SOCKET_PATH = process.env.SOAK_PROBE_SOCKET;

if (SOCKET_PATH) {
  const server = createServer((_request, response) => {
    // Twice: what is only freed by a finalizer goes with the second.
    globalThis.gc?.();
    globalThis.gc?.();
    const resources: Record<string, number> = {};
    for (const name of process.getActiveResourcesInfo()) {
      resources[name] = (resources[name] ?? 0) + 1;
    }
    const { heapUsed, rss, external, arrayBuffers } = process.memoryUsage();
    const holdings: Holdings = { heapUsed, rss, external, arrayBuffers, resources };
    response.setHeader('Connection', 'close');
    response.end(JSON.stringify(holdings));
  });
  server.listen(SOCKET_PATH);
  server.unref();
}
