import { AUTHORIZED } from '../support/credentials.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { startChildStore, type ChildStore } from '../support/child-store.ts';
import { makeMemoryGroup, type MemoryGroup } from './memory-group.ts';

export const MIB = 1_048_576;

/** A gateway with a memory limit, with the test's store and another store for the witness. */
export interface LimitedGateway {
  gateway: GatewayChild;
  store: ChildStore;
  /** The most memory that was seen in use. */
  readonly highestBytes: number;
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
  const look = setInterval(() => {
    highestBytes = Math.max(highestBytes, group.usedBytes());
  }, LOOK_INTERVAL_MS);
  return {
    gateway,
    store,
    group,
    witness,
    get highestBytes() {
      return highestBytes;
    },
    metric: async (name) => {
      const text = await (await fetch(`${gateway.managementUrl}/metrics`)).text();
      const line = text.split('\n').find((each) => each.startsWith(`${name} `));
      return Number(line?.slice(name.length));
    },
    stop: async () => {
      clearInterval(look);
      await witness.stop();
      await gateway.process.kill();
      await Promise.all([store.stop(), calmStore.stop()]);
      group.remove();
    },
  };
}

/** Another client. It sends small reads all the time and must get its responses. */
export class SteadyReader {
  /** How its reads ended: a status, or what `fetch` said. */
  readonly outcomes: (number | string)[] = [];
  private readonly url: string;
  private isStopped = false;
  private readonly reading: Promise<void>;

  constructor(url: string) {
    this.url = url;
    this.reading = this.readOn();
  }

  /** Resolves once it has been answered so many times more. */
  async served(times: number): Promise<void> {
    const isDone = this.outcomes.length + times;
    while (this.outcomes.length < isDone) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.reading;
  }

  private async readOn(): Promise<void> {
    for (let count = 0; !this.isStopped; count++) {
      const outcome = await fetch(`${this.url}?table=entities&offset=${count}`, {
        headers: AUTHORIZED,
      }).then(
        async (answer) => (await answer.text()) && answer.status,
        (error: Error) => `${error.message}: ${String(error.cause)}`,
      );
      this.outcomes.push(outcome || 'empty');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
