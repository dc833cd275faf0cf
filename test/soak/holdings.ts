import { request } from 'node:http';
import { json } from 'node:stream/consumers';

/** What a process holds just after a garbage collection; sizes in bytes. */
export interface Holdings {
  heapUsed: number;
  rss: number;
  external: number;
  arrayBuffers: number;
  /** Sockets, timers and the like, counted by their kind in libuv. */
  resources: Record<string, number>;
}

/** Asks a gateway that runs with `probe.ts`. */
export function askHoldings(socketPath: string): Promise<Holdings> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, agent: false }, (response) => {
      json(response).then((holdings) => resolve(holdings as Holdings), reject);
    });
    asked.on('error', reject);
    asked.end();
  });
}
