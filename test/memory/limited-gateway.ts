import { setTimeout as sleep } from 'node:timers/promises';
import { AUTHORIZED } from '../support/credentials.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { startChildStore, type ChildStore } from '../support/child-store.ts';
import { until } from '../support/until.ts';
import { makeMemoryGroup, type MemoryGroup } from './memory-group.ts';

export const MIB = 1_048_576;

/** A gateway with a memory limit, with the test's store and another store for the witness. */
export interface LimitedGateway {
  gateway: GatewayChild;
  store: ChildStore;
  /** The most memory that was seen in use, sockets in the kernel included. */
  readonly highestBytes: number;
  /** The same without what the kernel holds for sockets. */
  readonly highestProcessBytes: number;
  readonly group: MemoryGroup;
  witness: SteadyReader;
  /** The value of a metric, with its labels as they are written. */
  metric(name: string): Promise<number>;
  stop(): Promise<void>;
}

/** The interval at which the memory is sampled. */
const LOOK_INTERVAL_MS = 10;

export async function startLimitedGateway(
  limitBytes: number,
  program: string,
  env: Record<string, string> = {},
): Promise<LimitedGateway> {
  const group = makeMemoryGroup(limitBytes);
  const [store, calmStore] = await Promise.all([
    startChildStore(program),
    startChildStore('hostile-store-main.ts'),
  ]);
  const gateway = await startGatewayChild({
    wrapper: group.wrapper,
    env: {
      GATEWAY_HISTORY_URL: store.url,
      GATEWAY_RUNTIME_INGRESS_URL: store.url,
      GATEWAY_SYNC_URL: calmStore.url,
      ...env,
    },
  });
  const witness = new SteadyReader(`${gateway.url}/shapes/v1/shape`);
  let highestBytes = 0;
  let highestProcessBytes = 0;
  const look = setInterval(() => {
    const processBytes = group.processBytes();
    highestBytes = Math.max(highestBytes, processBytes + group.socketBytes());
    highestProcessBytes = Math.max(highestProcessBytes, processBytes);
  }, LOOK_INTERVAL_MS);
  return {
    gateway,
    store,
    group,
    witness,
    get highestBytes() {
      return highestBytes;
    },
    get highestProcessBytes() {
      return highestProcessBytes;
    },
    metric: async (name) => {
      const text = await (await fetch(`${gateway.managementUrl}/metrics`)).text();
      const line = text.split('\n').find((each) => each.startsWith(`${name} `));
      return Number(line?.slice(name.length));
    },
    stop: async () => {
      clearInterval(look);
      await witness.stop();
      await gateway.kill();
      await Promise.all([store.stop(), calmStore.stop()]);
      group.remove();
    },
  };
}

/** What the gateway says while memory is short, as `docs/security.md` promises: refused for now, with a time to come back. */
export const REFUSED_FOR_NOW = '503 overloaded';

/** Another client. It sends small reads all the time and must get its responses. */
export class SteadyReader {
  /** How its reads ended: a status, `REFUSED_FOR_NOW`, or what `fetch` said. */
  readonly outcomes: (number | string)[] = [];
  private readonly url: string;
  private isStopped = false;
  private readonly reading: Promise<void>;

  constructor(url: string) {
    this.url = url;
    this.reading = this.readOn();
  }

  /** Resolves once it has been answered with 200 so many times more, or in a way that is never right. */
  async served(times: number): Promise<void> {
    const begin = this.outcomes.length;
    const after = (): (number | string)[] => this.outcomes.slice(begin);
    const isDone = (): boolean =>
      after().filter((outcome) => outcome === 200).length >= times || this.wrong.length > 0;
    await until(`${times} more reads of another client are served`, isDone, () => sleep(20));
  }

  /** The outcomes that are never right. */
  get wrong(): (number | string)[] {
    return this.outcomes.filter((outcome) => outcome !== 200 && outcome !== REFUSED_FOR_NOW);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.reading;
  }

  private async readOn(): Promise<void> {
    for (let count = 0; !this.isStopped; count++) {
      this.outcomes.push(await this.read(count));
      await sleep(10);
    }
  }

  private async read(offset: number): Promise<number | string> {
    try {
      const answer = await fetch(`${this.url}?table=entities&offset=${offset}`, {
        headers: AUTHORIZED,
      });
      const text = await answer.text();
      if (text === '') return 'empty';
      if (answer.status !== 503) return answer.status;
      const { code } = JSON.parse(text) as { code: string };
      return `503 ${code}${answer.headers.has('retry-after') ? '' : ' without Retry-After'}`;
    } catch (error) {
      const { message, cause } = error as Error;
      return `${message}: ${String(cause)}`;
    }
  }
}
