import { choosePorts } from '../../local/stack/ports.ts';
import type { Exit } from '../../local/stack/process.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { startHaproxy } from '../support/haproxy.ts';
import { until } from '../support/until.ts';

/** Copies of the gateway behind a load balancer, each of which can be drained and replaced. */
export interface RollingGateways {
  /** The load balancer's. */
  url: string;
  /** Those that run now. */
  copies: GatewayChild[];
  /** SIGTERM, and another one in its place, which the load balancer knows when this resolves; how the old one ended. */
  replace(index: number): Promise<Exit>;
  stop(): Promise<void>;
}

export async function startRollingGateways(
  count: number,
  env: Record<string, string>,
): Promise<RollingGateways> {
  const names = Array.from({ length: count }, (_, index) => [`port${index}`, `management${index}`]);
  const ports: Record<string, number> = await choosePorts(
    Object.fromEntries(names.flat().map((name) => [name, 0])),
  );
  const places = names.map(([port = '', management = '']) => ({
    port: ports[port]!,
    managementPort: ports[management]!,
  }));
  const launch = ({ port, managementPort }: (typeof places)[number]): Promise<GatewayChild> =>
    startGatewayChild({
      env: {
        ...env,
        GATEWAY_PORT: String(port),
        GATEWAY_MANAGEMENT_PORT: String(managementPort),
      },
    });
  const copies: GatewayChild[] = [];
  for (const place of places) copies.push(await launch(place));
  const haproxy = await startHaproxy(places);
  return {
    url: haproxy.url,
    copies,
    replace: async (index) => {
      copies[index]!.signal('SIGTERM');
      const exit = await copies[index]!.exited;
      copies[index] = await launch(places[index]!);
      await untilBalanced(copies[index]);
      return exit;
    },
    stop: async () => {
      await haproxy.stop();
      await Promise.all(copies.map((gateway) => gateway.kill()));
    },
  };
}

/** Waits for the load balancer's readiness check, because traffic returns only after it. */
function untilBalanced(gateway: GatewayChild): Promise<void> {
  return until('the load balancer asks the gateway', () =>
    gateway.log.some(({ message }) => message === 'request'),
  );
}
