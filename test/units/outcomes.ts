import { request, type Agent } from 'node:http';
import { AUTHORIZED } from '../support/credentials.ts';
import { PORT } from './sharing-copies.ts';

export interface PlainRequest {
  method: string;
  path: string;
  /** Keeps connections. Without it each request has a connection of its own. */
  agent?: Agent;
}

/** Counts how requests end: by status, or by the code of their failure. Nothing is tried again. */
export class Outcomes {
  count = 0;
  readonly counts: Record<string, number> = {};

  add(outcome: number | string): void {
    this.count++;
    this.counts[outcome] = (this.counts[outcome] ?? 0) + 1;
  }

  /** Sends a request to the shared port. Resolves when it has ended in any way. */
  ofRequest({ method, path, agent }: PlainRequest): Promise<void> {
    return new Promise((resolve) => {
      const end = (outcome: number | string): void => {
        this.add(outcome);
        resolve();
      };
      const options = { host: '127.0.0.1', port: PORT, headers: AUTHORIZED, agent: agent ?? false };
      const sent = request({ ...options, method, path }, (response) => {
        response.resume();
        response.on('end', () => end(response.statusCode ?? 0));
        response.on('error', () => end('broken'));
      });
      sent.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) =>
        end(`${code} ${sent.reusedSocket ? 'on a kept connection' : 'on a new connection'}`),
      );
      sent.end(method === 'POST' ? '{}' : undefined);
    });
  }
}
