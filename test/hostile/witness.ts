import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { AUTHORIZED } from '../support/credentials.ts';
import { patternBytes } from './pattern.ts';
import type { AnswerPlan } from './plan.ts';

/** The witness gets each response within this time, on any machine. */
const PATIENCE_MS = 20_000;
const LENGTHS = [10, 2_000, 40_000];

/** The number in the id of a witness is the length of its responses. */
export function witnessAnswer(id: string): AnswerPlan | undefined {
  const count = /^w(\d+)$/.exec(id)?.[1];
  return count === undefined
    ? undefined
    : { behaviour: 'length', bytes: LENGTHS[Number(count) % LENGTHS.length] ?? 0 };
}

/** A client that sends ordinary requests all the time. Every response must be correct. */
export class Witness {
  readonly faults: string[] = [];
  served = 0;
  private readonly port: number;
  private readonly between: () => Promise<void>;
  private isStopped = false;
  private readonly running: Promise<void>;

  /** `between` is called after each round of its own. */
  constructor(port: number, between: () => Promise<void>) {
    this.port = port;
    this.between = between;
    this.running = this.run();
  }

  /** Asks no more, once what it has asked is answered. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }

  private async run(): Promise<void> {
    for (let count = 0; !this.isStopped; count += 3) {
      const [alone, shared, command] = [`w${count}`, `w${count + 1}`, `w${count + 2}`];
      await Promise.all([
        this.read(alone),
        this.read(shared),
        this.read(shared),
        this.command(command),
      ]);
      await this.between();
    }
  }

  private async read(id: string): Promise<void> {
    const bytes = witnessAnswer(id)?.bytes ?? 0;
    let expected = '';
    while (expected.length < bytes)
      expected += patternBytes(id, 'text', expected.length, bytes).toString();
    await this.ask(
      id,
      'GET',
      `/streams/witness/${id}?offset=-1`,
      (status, body) => status === 200 && body === expected,
    );
  }

  private async command(id: string): Promise<void> {
    await this.ask(
      id,
      'POST',
      `/api/a/witness/${id}/send`,
      (status, body) => status === 202 && body.includes(`"invocationId":"inv_${id}"`),
    );
  }

  private async ask(
    id: string,
    method: string,
    path: string,
    isRight: (status: number, body: string) => boolean,
  ): Promise<void> {
    const began = performance.now();
    try {
      const { status, body } = await this.send(method, path, {
        ...AUTHORIZED,
        'idempotency-key': id,
      });
      if (isRight(status, body)) this.served++;
      else this.faults.push(`${method} ${path}: ${status} ${body.slice(0, 300)}`);
    } catch (error) {
      const tookMs = Math.round(performance.now() - began);
      this.faults.push(`${method} ${path}: ${String(error)} after ${tookMs} ms`);
    }
  }

  /** On a connection of its own, so that nothing is kept between two rounds. */
  private send(
    method: string,
    path: string,
    headers: Record<string, string>,
  ): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const asked = request(
        { host: '127.0.0.1', port: this.port, method, path, headers, agent: false, signal },
        (response) => {
          text(response).then(
            (body) => resolve({ status: response.statusCode ?? 0, body }),
            reject,
          );
        },
      );
      asked.once('error', reject);
      asked.end();
    });
  }
}
