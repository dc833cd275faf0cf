/** `npm run test:nodes -- --grow`: one node of Restate becomes three, by the steps of docs/clusters.md, under load. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startAgents } from '../../local/agents/agents-server.ts';
import { HealthyWays } from '../../local/cluster/healthy-ways.ts';
import { openDoor } from '../../local/stack/door.ts';
import { startHistory } from '../../local/stack/history.ts';
import { choosePorts } from '../../local/stack/ports.ts';
import { restateSocket, startRestateNode } from '../../local/stack/restate.ts';
import { AgentGateway } from '../../packages/client/src/index.ts';
import { API_KEY } from '../support/credentials.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { withParts, type Keep } from '../support/parts.ts';
import { until } from '../support/until.ts';
import { Load } from './load.ts';
import { isGood, summaryOf, verdictOn } from './verdict.ts';

const RESTATECTL = '@restatedev/restatectl@1.7.12';
const CREDENTIAL = 'the-credential-of-the-doors';
const COMMANDS_PER_SECOND = 5;
const READERS = 10;
const WORD_DELAY_MS = 5;
const run = promisify(execFile);

/** @returns whether nothing that was accepted was lost or ran twice, and no reader missed anything. */
export function grow(): Promise<boolean> {
  return withParts(async (keep) => {
    const folder = await mkdtemp(join(tmpdir(), 'grow-'));
    await keep({ stop: () => rm(folder, { recursive: true, force: true }) });
    const restatectl = await fetchRestatectl(join(folder, 'tools'));
    const ports = await choosePorts({ one: 0, two: 0, three: 0, gateway: 0 });
    const nodePorts = [ports.one, ports.two, ports.three];
    const options = { dataDir: join(folder, 'restate') };

    const first = await keep(
      startRestateNode(options, {
        name: 'restate-1',
        port: ports.one,
        ports: [ports.one],
        replication: 1,
      }),
    );
    const doors = await openDoors(keep, options.dataDir);
    const history = await keep(startHistory());
    await keep(
      startGatewayChild({
        env: {
          GATEWAY_PORT: String(ports.gateway),
          GATEWAY_RUNTIME_API: 'restate',
          GATEWAY_RUNTIME_INGRESS_URL: `http://127.0.0.1:${doors.ingress}`,
          GATEWAY_RUNTIME_INGRESS_TOKEN: CREDENTIAL,
          GATEWAY_RUNTIME_ADMIN_URL: `http://127.0.0.1:${doors.admin}`,
          GATEWAY_RUNTIME_ADMIN_TOKEN: CREDENTIAL,
          GATEWAY_HISTORY_URL: history.url,
        },
      }),
    );
    const baseUrl = `http://127.0.0.1:${ports.gateway}`;
    const access = { gatewayUrl: baseUrl, apiKey: API_KEY };
    const agents = await keep(startAgents({ port: 0, ...access, wordDelayMs: WORD_DELAY_MS }));
    await new AgentGateway({ url: baseUrl, apiKey: API_KEY }).deployments.register(agents.url);
    const load = new Load({ baseUrl, apiKey: API_KEY });
    await keep({ stop: () => load.stop() });
    await load.start(COMMANDS_PER_SECOND, READERS);
    await untilMoreAccepted(load);
    console.log('one node');

    for (const number of [2, 3] as const) {
      const name = `restate-${number}`;
      const port = nodePorts[number - 1]!;
      await keep(startRestateNode(options, { name, port, ports: nodePorts }));
    }
    const address = `--address=http://127.0.0.1:${ports.one}`;
    const ctl = async (...args: string[]): Promise<string> =>
      (await run(restatectl, [...args, address])).stdout;
    await ctl('config', 'set', '--replication', '2', '--yes');
    await until('each partition to be on two nodes', async () => {
      const { length: copies } = (await ctl('partitions', 'list')).match(/Follower/gi) ?? [];
      return copies >= 4;
    });
    console.log('three nodes: each partition is on two');
    doors.useAll();
    await untilMoreAccepted(load);

    await first.kill();
    console.log('the first node was killed');
    await untilMoreAccepted(load);
    await load.end();
    const verdict = await verdictOn(load);
    console.log(summaryOf(verdict, 'node'));
    return isGood(verdict, load, 'node');
  });
}

async function fetchRestatectl(folder: string): Promise<string> {
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{"private":true}\n');
  await run('npm', ['install', '--no-audit', '--no-fund', RESTATECTL], { cwd: folder });
  return join(folder, 'node_modules/.bin/restatectl');
}

/** Ports of which the gateway knows: first the first node is behind them, then all nodes. */
async function openDoors(keep: Keep, dataDir: string) {
  const waysOf = (listener: 'ingress' | 'admin', healthPath: string, names: readonly string[]) =>
    new HealthyWays(
      names.map((name) => ({
        way: { path: restateSocket(dataDir, listener, name) },
        healthPath,
      })),
    );
  const ofNodes = (names: readonly string[]) => ({
    ingress: waysOf('ingress', '/restate/health', names),
    admin: waysOf('admin', '/health', names),
  });
  let ways = ofNodes(['restate-1']);
  const stopWays = (): void => Object.values(ways).forEach((one) => one.stop());
  await keep({ stop: stopWays });
  const ports = await choosePorts({ ingress: 0, admin: 0 });
  const ingress = await openDoor(ports.ingress, () => ways.ingress.next(), CREDENTIAL);
  await keep({ stop: () => ingress.close() });
  const admin = await openDoor(ports.admin, () => ways.admin.next(), CREDENTIAL);
  await keep({ stop: () => admin.close() });
  const useAll = (): void => {
    stopWays();
    ways = ofNodes(['restate-1', 'restate-2', 'restate-3']);
  };
  return { ingress: ingress.port, admin: admin.port, useAll };
}

/** Until 20 commands more are accepted. */
function untilMoreAccepted({ commands }: Load): Promise<void> {
  const accepted = (): number => commands.filter(({ outcome }) => outcome === 'accepted').length;
  const wanted = accepted() + 20;
  return until('20 commands to be accepted', () => accepted() >= wanted);
}
