/** `npm run local -- --cluster`: three nodes of Restate and three gateways. */
import { request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { openDoor } from '../stack/door.ts';
import { say } from '../stack/output.ts';
import {
  addressesOf,
  AGENTS,
  CATALOG,
  CONSOLE,
  HISTORY,
  identityOf,
  loopback,
  startGateway,
  USUAL_PORTS,
  type Context,
  type Part,
  type Plan,
} from '../stack/parts.ts';
import { restateSocket, startRestateNode } from '../stack/restate.ts';
import { openFront } from './front.ts';
import { HealthyWays } from './healthy-ways.ts';
import { RIVET_PATH, startRivetEngine, startRivetServices, type RivetOptions } from './rivet.ts';

export const HISTORIES = ['node', 'rivet'] as const;
export type HistoryKind = (typeof HISTORIES)[number];

/** One that is killed meanwhile knows them when it is back. */
const KNOWN_WITHIN_MS = 30_000;
const NUMBERS = [1, 2, 3] as const;
type Numbered = (typeof NUMBERS)[number];

/** The ports of each copy. 0 means any. */
const COPIES_PORTS = {
  'node-1': 0,
  'node-2': 0,
  'node-3': 0,
  'gateway-1': 0,
  'gateway-2': 0,
  'gateway-3': 0,
  'management-2': 0,
  'management-3': 0,
  engine: 0,
  'engine-peer': 0,
  'engine-metrics': 0,
  'services-1': 0,
  'services-2': 0,
};
type CopiesPorts = typeof COPIES_PORTS;

const portsOf = ({ ports }: Context) => ports as typeof ports & CopiesPorts;

export function clusterOf(kind: HistoryKind): Plan {
  const gateways = NUMBERS.map((number) => gatewayPart(number, kind));
  const history = kind === 'node' ? [[HISTORY]] : rivetStages();
  return {
    usualPorts: { ...USUAL_PORTS, ...COPIES_PORTS },
    stages: [NUMBERS.map(nodePart), ...history, [CATALOG], [AGENTS], gateways, [CONSOLE]],
    addressesOf: (context) => ({ ...addressesOf(context), ...copiesOf(context) }),
    open: (context) => openWays(context, kind),
    untilAgentsAreKnown,
    options: '--cluster ',
    more: () => whatToKill(kind),
    // Its parts are there to be killed.
    mostEnds: 30,
  };
}

/**
 * A node answers 404 to a command of a type that was registered at another one a moment ago. Each says which services it knows, of
 * which a registration has all.
 */
async function untilAgentsAreKnown({ data }: Context): Promise<void> {
  for (const number of NUMBERS) {
    const socketPath = restateSocket(data.restate, 'ingress', `restate-${number}`);
    const giveUpAtMs = Date.now() + KNOWN_WITHIN_MS;
    while (!(await servicesOf(socketPath)).includes('assistant') && Date.now() < giveUpAtMs) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function servicesOf(socketPath: string): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const asked = request({ socketPath, path: '/restate/health', agent: false }, (answer) => {
      void json(answer).then(
        (health) => resolve((health as { services?: string[] }).services ?? []),
        () => resolve([]),
      );
    });
    asked.on('error', () => resolve([])).end();
  });
}

function nodePart(number: Numbered): Part {
  return {
    name: `restate-${number}`,
    start: (context) => {
      const { data, onOutput = say } = context;
      const ports = NUMBERS.map((each) => portsOf(context)[`node-${each}`]);
      return startRestateNode(
        {
          dataDir: data.restate,
          identityKeyFile: identityOf(data).keyFile,
          onOutput: (line) => onOutput(`restate-${number}`, line),
        },
        { name: `restate-${number}`, port: ports[number - 1]!, ports },
      );
    },
  };
}

function gatewayPart(number: Numbered, kind: HistoryKind): Part {
  const name = `gateway-${number}` as const;
  return {
    name,
    start: (context) =>
      startGateway(context, {
        name,
        gateway: portsOf(context)[name],
        management: managementPort(context, number),
        ...(kind === 'rivet' && { historyPath: RIVET_PATH }),
      }),
  };
}

function managementPort(context: Context, number: Numbered): number {
  const ports = portsOf(context);
  return number === 1 ? ports.management : ports[`management-${number}`];
}

function rivetStages(): Part[][] {
  const optionsOf = ({ data, onOutput = say }: Context): RivetOptions => ({
    folder: join(data.history, 'rivet'),
    token: data.settings.upstreamToken,
    onOutput: (line) => onOutput('history', line),
  });
  const engine: Part = {
    name: 'history',
    start: (context) => {
      const ports = portsOf(context);
      const { engine: port, 'engine-peer': peer, 'engine-metrics': metrics } = ports;
      return startRivetEngine(optionsOf(context), { engine: port, peer, metrics });
    },
  };
  const services = ([1, 2] as const).map((number): Part => {
    const name = `history-${number}` as const;
    return {
      name,
      start: (context) => {
        const ports = portsOf(context);
        const itsPorts = { engine: ports.engine, services: ports[`services-${number}`] };
        return startRivetServices(optionsOf(context), name, itsPorts);
      },
    };
  });
  return [[engine], services];
}

/** Opens the ports behind which several copies are. They are in this process, which stands for load balancers. */
async function openWays(context: Context, kind: HistoryKind): Promise<() => Promise<unknown>> {
  const { data } = context;
  const ports = portsOf(context);
  const credential = data.settings.upstreamToken;
  const nodesOf = (listener: 'ingress' | 'admin', healthPath: string) =>
    new HealthyWays(
      NUMBERS.map((number) => ({
        way: { path: restateSocket(data.restate, listener, `restate-${number}`) },
        healthPath,
      })),
    );
  const ingress = nodesOf('ingress', '/restate/health');
  const admin = nodesOf('admin', '/health');
  const doors = [
    await openDoor(ports.ingress, () => ingress.next(), credential),
    await openDoor(ports.admin, () => admin.next(), credential),
  ];
  const all = [ingress, admin];
  if (kind === 'rivet') {
    const services = new HealthyWays(
      ([1, 2] as const).map((number) => ({
        way: { port: ports[`services-${number}`] },
        healthPath: '/health',
      })),
    );
    all.push(services);
    doors.push(await openDoor(ports.history, () => services.next(), credential));
  }
  const closeFront = await openFront(
    ports.gateway,
    NUMBERS.map((number) => ({
      way: { port: ports[`gateway-${number}`] },
      healthWay: { port: managementPort(context, number) },
      healthPath: '/health/ready',
    })),
  );
  return async () => {
    for (const ways of all) ways.stop();
    await Promise.all([closeFront(), ...doors.map((door) => door.close())]);
  };
}

function copiesOf(context: Context): Record<string, string> {
  const ports = portsOf(context);
  const each = NUMBERS.flatMap((number) => [
    [`restate-${number}`, `nodes among themselves ${loopback(ports[`node-${number}`])}`],
    [
      `gateway-${number}`,
      `${loopback(ports[`gateway-${number}`])}, probes and metrics ${loopback(managementPort(context, number))}`,
    ],
    [`history-${number}`, number < 3 ? loopback(ports[`services-${number as 1 | 2}`]) : ''],
  ]);
  return Object.fromEntries(each) as Record<string, string>;
}

function whatToKill(kind: HistoryKind): string {
  const store =
    kind === 'node'
      ? `  history     no event can be read or appended until it is back, in a second or two. Agents and readers
              try again: nothing is lost and nothing twice.`
      : `  history-1   readers come again by the other one.
  history     the engine: as with one store, nothing can be read or appended until it is back.`;
  return `
This is a cluster. Kill any one of its processes, and look:
  npm run local -- --cluster --status     what runs, and its pid
  kill -9 PID                             it is started again, as a machine's supervisor would
  kill -STOP PID; sleep 20; kill -CONT PID    it is frozen: it takes connections and answers nothing

  gateway-1   the port answers through the others. Readers resume where they were.
  restate-1   commands are accepted, some a second or two later. The others take over its agents.
${store}
  Two of restate-1, -2 and -3: no command is accepted until one of them is back. Commands wait for up to
              15 s at first, and then get 502 with "sent": false at once; ${'`agent-gateway doctor`'} says why.

Leave this running in another terminal meanwhile, to see that each is accepted:
  i=0; while sleep 0.5; do i=$((i+1)); curl -sS -m 20 -o /dev/null -w "$i %{http_code} %{time_total}\\n" \\
    "$GATEWAY_URL/api/a/assistant/ada/send" -H "Authorization: Bearer $GATEWAY_API_KEY" \\
    -H "Idempotency-Key: kill-$i" --json '{"kind":"message","content":[{"type":"text","text":"count to 3"}]}'; done
`;
}
