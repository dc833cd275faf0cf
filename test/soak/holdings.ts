import { request } from 'node:http';
import { json } from 'node:stream/consumers';

/** The resources of a process just after a garbage collection. Sizes are in bytes. */
export interface Holdings {
  heapUsed: number;
  rss: number;
  external: number;
  arrayBuffers: number;
  /** Sockets, timers and the like, counted by their kind in libuv. */
  resources: Record<string, number>;
}

/** Reads them from a gateway that runs with `probe.ts`. */
export function askHoldings(socketPath: string): Promise<Holdings> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, agent: false }, (response) => {
      json(response).then((holdings) => resolve(holdings as Holdings), reject);
    });
    asked.on('error', reject);
    asked.end();
  });
}
