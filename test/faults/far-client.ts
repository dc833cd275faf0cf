import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Link-local addresses (RFC 3927), which no network of the machine uses. */
const HERE = '169.254.177.1';
const THERE = '169.254.177.2';

/** A client behind a network link that the test can cut. */
export interface FarClient {
  /** Sends a request and resolves with the first line of the answer. It reads whatever comes. */
  ask(port: number, request: string): Promise<string>;
  /** From now on nothing that is sent to it arrives, nothing comes from it, and nobody says so. */
  vanish(): void;
  remove(): Promise<void>;
}

/** The address of this machine on that link. */
export const ADDRESS_FOR_FAR_CLIENT = HERE;

/** Whether this machine and this user may make a network of their own: Linux, root and `ip` of iproute2. */
export function canBeFar(): boolean {
  const name = `gw-probe-${process.pid}`;
  try {
    ip('netns', 'add', name);
    ip('netns', 'delete', name);
    return true;
  } catch {
    return false;
  }
}

/** Makes a network link between this machine and the client's own network namespace. */
export function makeFarClient(): FarClient {
  const name = `gw-far-${process.pid}`;
  const [near, far] = [`gwn${process.pid}`, `gwf${process.pid}`];
  const inside = (...args: string[]): string => ip('-n', name, ...args);
  ip('netns', 'add', name);
  ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', name);
  ip('address', 'add', `${HERE}/30`, 'dev', near);
  ip('link', 'set', near, 'up');
  inside('address', 'add', `${THERE}/30`, 'dev', far);
  inside('link', 'set', far, 'up');
  // As behind a router: that the client is gone is not told by its network.
  const [, hardware = ''] = /link\/ether (\S+)/.exec(inside('link', 'show', far)) ?? [];
  ip('neighbour', 'replace', THERE, 'lladdr', hardware, 'dev', near, 'nud', 'permanent');
  let client: ChildProcess | undefined;
  return {
    ask: async (port, request) => {
      const program = `const socket = require('node:net').connect(${port}, '${HERE}', () => socket.write(process.argv[1]));
        socket.pipe(process.stdout);`;
      const args = ['netns', 'exec', name, process.execPath, '-e', program, request];
      client = spawn('ip', args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = (await once(createInterface({ input: client.stdout! }), 'line')) as [string];
      return line;
    },
    vanish: () => void inside('address', 'flush', 'dev', far),
    remove: async () => {
      const exited = client && once(client, 'exit');
      if (client?.kill('SIGKILL')) await exited;
      // With its namespace alone it would go some time later.
      ip('link', 'delete', near);
      ip('netns', 'delete', name);
    },
  };
}

function ip(...args: string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
