import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';

/** As in the units and in HAProxy's configuration. In a network namespace of one's own every port is free. */
export const PORT = 8787;
export const MANAGEMENT_PORTS = [9101, 9102];

/** Two copies of the gateway that listen on one port, set up as their systemd unit does it. */
export interface SharingCopies {
  /** Those that run now. */
  copies: GatewayChild[];
  /** Stops a copy as `systemctl restart` does, and starts it again. Resolves when it listens. */
  restart(managementPort: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startSharingCopies(env: Record<string, string> = {}): Promise<SharingCopies> {
  const launch = (managementPort: number): Promise<GatewayChild> =>
    startGatewayChild({
      env: {
        ...env,
        GATEWAY_PORT: String(PORT),
        GATEWAY_REUSE_PORT: 'true',
        GATEWAY_MANAGEMENT_PORT: String(managementPort),
      },
    });
  const copies: GatewayChild[] = [];
  for (const managementPort of MANAGEMENT_PORTS) copies.push(await launch(managementPort));
  return {
    copies,
    restart: async (managementPort) => {
      const index = MANAGEMENT_PORTS.indexOf(managementPort);
      copies[index]!.signal('SIGTERM');
      await copies[index]!.exited;
      copies[index] = await launch(managementPort);
    },
    stop: async () => {
      await Promise.all(copies.map((copy) => copy.kill()));
    },
  };
}
