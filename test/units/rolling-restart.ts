/**
 * Rolls two copies that share a port, under load, as an operator does it: with `deploy/systemd/roll.sh`, whose `systemctl` is a
 * stand-in. Argument: `direct`, or `haproxy` for requests over HTTP/2 through the project's own configuration. Prints how each
 * request ended.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { listening, type Listening } from '../support/listening.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { connectToFront, startFront } from './front.ts';
import { Outcomes } from './outcomes.ts';
import { MANAGEMENT_PORTS, startSharingCopies } from './sharing-copies.ts';

const ROLL = join(import.meta.dirname, '../../deploy/systemd/roll.sh');
const DRAIN_MS = 12_500;
const ROLLS = 2;
const CLIENTS_OF_EACH_KIND = 12;
/** Some end after the listener has closed. */
const RUNTIME_DELAYS_MS = [5, 40, 700];
const COMMAND = { method: 'POST', path: '/api/a/echo/e1/send' };
const SYSTEMCTL = `#!/usr/bin/env bash
if [ "$1" = list-units ]; then
  for port in ${MANAGEMENT_PORTS.join(' ')}; do echo "agent-gateway@$port.service loaded active running Agent gateway"; done
else
  exec 3<>"/dev/tcp/127.0.0.1/$CONTROL_PORT"
  echo "$2" >&3
  read -r answer <&3
  [ "$answer" = done ]
fi
`;

/** What the program prints. */
export interface RollingOutcome {
  /** How often each outcome came. */
  outcomes: Record<string, number>;
  /** The commands that reached the runtime. */
  commands: number;
}

let commands = 0;
const runtime = await startScriptedUpstream((_request, response) => {
  const invocationId = `inv_${++commands}`;
  setTimeout(
    () => response.end(JSON.stringify({ invocationId, status: 'Accepted' })),
    RUNTIME_DELAYS_MS[commands % RUNTIME_DELAYS_MS.length],
  );
});
const gateways = await startSharingCopies({
  GATEWAY_RUNTIME_INGRESS_URL: runtime.url,
  GATEWAY_DRAIN_TIMEOUT_MS: String(DRAIN_MS),
});
const front = process.argv[2] === 'haproxy' ? await startFront() : undefined;
const outcomes = new Outcomes();
let isOver = false;
const load = front ? overHttp2() : direct();
for (let roll = 0; roll < ROLLS; roll++) await rollOnce();
isOver = true;
await load;
await front?.stop();
await gateways.stop();
await runtime.stop();
process.stdout.write(
  JSON.stringify({ outcomes: outcomes.counts, commands } satisfies RollingOutcome),
);

/** Half of the clients keep their connections, half open one for each request. */
async function direct(): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS_OF_EACH_KIND });
  await Promise.all([
    ...clients(() => outcomes.ofRequest({ ...COMMAND, agent })),
    ...clients(() => outcomes.ofRequest(COMMAND)),
  ]);
  agent.destroy();
}

async function overHttp2(): Promise<void> {
  const session = await connectToFront();
  await Promise.all(clients(async () => outcomes.add(await session.send(COMMAND))));
  session.close();
}

function clients(send: () => Promise<void>): Promise<void>[] {
  return Array.from({ length: CLIENTS_OF_EACH_KIND }, async () => {
    while (!isOver) await send();
  });
}

async function rollOnce(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-roll-'));
  const control = await startControl();
  await writeFile(join(folder, 'systemctl'), SYSTEMCTL);
  await chmod(join(folder, 'systemctl'), 0o755);
  const CONTROL_PORT = String(control.port);
  const env = { PATH: `${folder}:${process.env.PATH}`, CONTROL_PORT };
  await promisify(execFile)('bash', [ROLL], { env });
  await control.stop();
  await rm(folder, { recursive: true });
}

/** Restarts the copy whose unit is named on a line, and answers when it is ready. */
function startControl(): Promise<Listening> {
  const server = createServer((socket) => {
    createInterface(socket).once('line', (unit) => {
      const managementPort = Number(/@(\d+)\.service$/.exec(unit)?.[1]);
      void gateways.restart(managementPort).then(() => socket.end('done\n'));
    });
  });
  return listening(server);
}
