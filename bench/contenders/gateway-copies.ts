import { awaitOk } from '../../local/stack/await-ok.ts';
import { choosePorts } from '../../local/stack/ports.ts';
import { untilReady } from '../../local/stack/process.ts';
import { STREAMS_PREFIX, type Contender } from './contender.ts';
import { gateway, GATEWAY_MAIN, gatewayEnvironment } from './gateway.ts';
import { startServerProcess } from './server-process.ts';

const READY_TIMEOUT_MS = 20_000;
/** The copies are in one process group, whose processor time is measured. */
const RUN_COPIES =
  'for port in $MANAGEMENT_PORTS; do GATEWAY_MANAGEMENT_PORT=$port "$0" "$@" & done; wait';

/** Copies of the built gateway that listen on one port, as on one machine with several cores. */
export function gatewayCopies(copies: number): Contender {
  return {
    id: `gateway-${copies}`,
    label: `agent gateway, ${copies} copies`,
    missing: () => gateway().missing(),
    start: async (streamsUrl) => {
      const names = Array.from({ length: copies }, (_, n) => [`copy${n}`, 0] as const);
      const { port, ...management } = await choosePorts({ port: 0, ...Object.fromEntries(names) });
      const managementPorts: number[] = Object.values(management);
      const origin = `http://127.0.0.1:${port}`;
      const server = await startServerProcess({
        name: 'copies of the gateway',
        command: '/bin/sh',
        args: ['-c', RUN_COPIES, process.execPath, GATEWAY_MAIN],
        env: {
          ...gatewayEnvironment({ port, managementPort: 0 }),
          GATEWAY_REUSE_PORT: 'true',
          GATEWAY_HISTORY_URL: streamsUrl,
          MANAGEMENT_PORTS: managementPorts.join(' '),
        },
        readyUrl: `${origin}/health`,
      });
      await untilReady(server, READY_TIMEOUT_MS, (signal) =>
        Promise.all(
          managementPorts.map((each) => awaitOk(`http://127.0.0.1:${each}/health/ready`, signal)),
        ),
      );
      return {
        url: `${origin}${STREAMS_PREFIX}`,
        pid: server.pid,
        sharingProcesses: copies,
        stop: () => server.stop(),
      };
    },
  };
}
