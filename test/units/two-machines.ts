/**
 * Two machines by docs/one-machine.md, each an address of the loopback interface with HAProxy and two copies, and the load balancer of
 * `deploy/haproxy/balancer.cfg` before them. Under load over HTTP/2 one machine is drained, started again, then lost. Prints how each
 * request ended.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess, type RunningProcess } from '../../local/stack/process.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { until } from '../support/until.ts';
import { connectToFront, frontConfiguration, withoutUser, type FrontSession } from './front.ts';
import { Outcomes } from './outcomes.ts';

const HAPROXY = join(import.meta.dirname, '../../deploy/haproxy');
/** A fifth of it is the lame duck, in which the load balancer takes the machine out. */
const DRAIN_MS = 50_000;
const ADDRESSES = ['127.0.0.2', '127.0.0.3'] as const;
const COMMAND = { method: 'POST', path: '/api/a/echo/e1/send' };
const PORTS = [9101, 9102];

/** What the program prints. */
export interface MachinesOutcome {
  /** While both machines ran, one was drained, and it came back. */
  drained: Record<string, number>;
  /** After the loss of a machine, on connections from after it. */
  lost: Record<string, number>;
  /** What each machine's `/machine` said while one was drained. */
  said: (number | undefined)[];
}

let commands = 0;
const runtime = await startScriptedUpstream((_request, response) => {
  response.end(JSON.stringify({ invocationId: `inv_${++commands}`, status: 'Accepted' }));
});
const folder = await mkdtemp(join(tmpdir(), 'gateway-machines-'));
const fronts: RunningProcess[] = [];
const removals: (() => Promise<void>)[] = [];
for (const [index, address] of ADDRESSES.entries()) {
  const other = ADDRESSES[1 - index] ?? '';
  const { file, remove } = await frontConfiguration((text) =>
    text
      .replace(/bind :/g, `bind ${address}:`)
      .replaceAll('127.0.0.1:8787', `${address}:8787`)
      .replace(/^ {2}#server/gm, '  server')
      .replaceAll('192.0.2.12', other),
  );
  removals.push(remove);
  fronts.push(haproxy(`haproxy-${index}`, file));
}
const balancer = join(folder, 'balancer.cfg');
await writeFile(
  balancer,
  withoutUser(await readFile(join(HAPROXY, 'balancer.cfg'), 'utf8'))
    .replace(/bind :/g, 'bind 127.0.0.1:')
    .replaceAll('192.0.2.11', ADDRESSES[0])
    .replaceAll('192.0.2.12', ADDRESSES[1]),
);
fronts.push(haproxy('balancer', balancer));
const machines = await Promise.all(ADDRESSES.map(startCopies));
const areReady = async (): Promise<boolean> =>
  (await Promise.all(ADDRESSES.map(machineSays))).every((status) => status === 200);
await until('both machines are ready', areReady);

const drained = new Outcomes();
let isOver = false;
const sessions = await Promise.all(Array.from({ length: 6 }, () => connectToFront()));
const load = sessions.map(async (session) => {
  while (!isOver) drained.add(await session.send(COMMAND));
});
// `systemctl stop agent-gateway.target`: sessions stay with the machine's HAProxy, which has no copy of its own any more.
const stopping = machines[0]!;
for (const copy of stopping) copy.signal('SIGTERM');
await until(
  'the machine says that it drains',
  async () => (await machineSays(ADDRESSES[0])) === 503,
);
const said = await Promise.all(ADDRESSES.map(machineSays));
await Promise.all(stopping.map((copy) => copy.exited));
const before = drained.count;
await until('a hundred more', () => drained.count > before + 100);
machines[0] = await startCopies(ADDRESSES[0]);
await until('it is back', areReady);
isOver = true;
await Promise.all(load);
for (const session of sessions) session.close();

// The whole machine is lost, its HAProxy too.
await Promise.all([fronts[0]!.kill(), ...machines[0].map((copy) => copy.kill())]);
const lost = new Outcomes();
for (let count = 0; count < 20; count++) {
  const session: FrontSession = await connectToFront();
  lost.add(await session.send(COMMAND));
  session.close();
}
await Promise.all(fronts.slice(1).map((front) => front.kill()));
await Promise.all(machines.flat().map((copy) => copy.kill()));
await runtime.stop();
await Promise.all([...removals.map((remove) => remove()), rm(folder, { recursive: true })]);
process.stdout.write(
  JSON.stringify({ drained: drained.counts, lost: lost.counts, said } satisfies MachinesOutcome),
);

function haproxy(name: string, file: string): RunningProcess {
  const env = { PATH: process.env.PATH };
  return startProcess({ name, command: 'haproxy', args: ['-db', '-f', file], env });
}

async function startCopies(address: string): Promise<GatewayChild[]> {
  return Promise.all(
    PORTS.map((port) =>
      startGatewayChild({
        env: {
          GATEWAY_HOST: address,
          GATEWAY_PORT: '8787',
          GATEWAY_REUSE_PORT: 'true',
          GATEWAY_MANAGEMENT_PORT: String(port),
          GATEWAY_RUNTIME_INGRESS_URL: runtime.url,
          GATEWAY_DRAIN_TIMEOUT_MS: String(DRAIN_MS),
        },
      }),
    ),
  );
}

/** What a load balancer elsewhere asks; undefined where nobody answers. */
function machineSays(host: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    get({ host, port: 80, path: '/machine', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', () => resolve(undefined));
  });
}
