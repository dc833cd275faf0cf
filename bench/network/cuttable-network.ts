import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startProcess, untilReady, type RunningProcess } from '../../local/stack/process.ts';

const run = promisify(execFile);
const START_TIMEOUT_MS = 10_000;

/** A network of this machine's own, which can drop everything. */
export interface CuttableNetwork {
  /** The address at which the other end of the network finds this machine. */
  address: string;
  /** A command that runs another one at the other end. */
  atOtherEnd: string[];
  /** From now on every packet is dropped without a word, in both directions. */
  drop(): Promise<void>;
  /** Packets pass again. */
  pass(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Makes a network: this machine, a router, and a place for readers. The router and the place are network namespaces, which
 * need root. A router that does not forward drops what it gets. Rejects with a sentence that says why there is none.
 */
export async function startCuttableNetwork(): Promise<CuttableNetwork> {
  const namespaces: RunningProcess[] = [];
  // The links and routes go with the namespaces.
  const stop = async (): Promise<void> => {
    for (const namespace of namespaces) await namespace.kill();
  };
  try {
    namespaces.push(await startNamespace('the router'));
    namespaces.push(await startNamespace('the place for readers'));
    const [router, place] = namespaces.map(({ pid }) => pid);
    const [inRouter, inPlace] = [inside(router), inside(place)];
    // RFC 2544 reserves these addresses for benchmarks.
    const net = `198.18.${process.pid % 256}`;
    const link = `bench${process.pid}`;
    await sh(`ip link add ${link} type veth peer name near netns ${router}`);
    await sh(`ip addr add ${net}.1/30 dev ${link} && ip link set ${link} up`);
    await sh('ip link set near up', inRouter);
    await sh(`ip addr add ${net}.2/30 dev near`, inRouter);
    await sh(`ip link add far type veth peer name out netns ${place}`, inRouter);
    await sh(`ip addr add ${net}.5/30 dev far && ip link set far up`, inRouter);
    await sh(`ip addr add ${net}.6/30 dev out && ip link set out up`, inPlace);
    await sh(`ip route add default via ${net}.5`, inPlace);
    await sh(`ip route add ${net}.4/30 via ${net}.2`);
    const forward = (isOn: boolean): Promise<void> =>
      sh(`echo ${isOn ? 1 : 0} > /proc/sys/net/ipv4/ip_forward`, inRouter);
    await forward(true);
    return {
      address: `${net}.1`,
      atOtherEnd: inPlace,
      drop: () => forward(false),
      pass: () => forward(true),
      stop,
    };
  } catch (error) {
    await stop();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `no network can be made here, which needs root, iproute2 and util-linux: ${reason}`,
    );
  }
}

/** A network namespace lives as long as a process in it. */
async function startNamespace(name: string): Promise<RunningProcess> {
  const holder = startProcess({
    name,
    command: 'unshare',
    args: ['--net', 'sh', '-c', 'ip link set lo up && echo ready && exec sleep infinity'],
    env: { PATH: process.env.PATH },
  });
  await untilReady(holder, START_TIMEOUT_MS, () => holder.waitForLine((line) => line === 'ready'));
  return holder;
}

function inside(pid: number | undefined): string[] {
  return ['nsenter', `--target=${pid}`, '--net'];
}

async function sh(script: string, prefix: string[] = []): Promise<void> {
  const [command, ...args] = [...prefix, 'sh', '-c', script];
  await run(command, args);
}
