import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { resetConnection } from '../../src/platform/http/reset-connection.ts';
import { Changes } from './changes.ts';
import { awaited } from './until.ts';

/** A TCP connection on which a test sends and reads single bytes. Text is latin1: one byte per character. */
export class Wire {
  readonly socket: Socket;
  /** Everything that came so far. */
  received = '';
  /** How the other side ended it: `end` in order, `reset` broken off. */
  readonly ended: Promise<'end' | 'reset'>;
  private readonly changes = new Changes();
  private isOver = false;

  /** `asksForReset`: an end is taken for one in order only where a byte more can be written. */
  constructor(socket: Socket, asksForReset = false) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      this.received += chunk;
      this.changes.tell();
    });
    this.ended = new Promise((resolve) => {
      socket.once('end', () => {
        if (!asksForReset) return resolve('end');
        socket.write('\r\n', (error) => resolve(error ? 'reset' : 'end'));
        socket.end();
      });
      socket.once('error', () => resolve('reset'));
      socket.once('close', (hadError) => resolve(hadError ? 'reset' : 'end'));
    });
    void this.ended.then(() => {
      this.isOver = true;
      this.changes.tell();
    });
  }

  /** Writes bytes, and resolves once the system has taken them. */
  write(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => {
      if (typeof bytes === 'string') this.socket.write(bytes, 'latin1', () => resolve());
      else this.socket.write(bytes, () => resolve());
    });
  }

  /** Resolves with all that came, once it holds the text or matches. Rejects if the wire ends first. */
  async until(expected: string | RegExp): Promise<string> {
    const isThere = (): boolean =>
      typeof expected === 'string'
        ? this.received.includes(expected)
        : expected.test(this.received);
    const change = this.changes.until(() => isThere() || this.isOver);
    await awaited(() => `${String(expected)} comes, after ${this.received}`, change);
    if (!isThere()) throw new Error(`ended without ${String(expected)}: ${this.received}`);
    return this.received;
  }

  /** Resolves as `ended` does, and rejects if it takes too long. */
  over(): Promise<'end' | 'reset'> {
    return awaited(() => `the connection ends, after ${this.received.slice(0, 1_000)}`, this.ended);
  }

  /** Breaks it off, as a process does that is killed. */
  reset(): void {
    resetConnection(this.socket);
  }
}

/**
 * A client on Node 22 sees an end in order where the reset comes with the last bytes: libuv reports the hang-up before it
 * reads the error. Seen with 22.19 against any server; not with 24 and 26.
 */
const MISTAKES_RESETS = process.versions.node.startsWith('22.');

/** Opens a connection to a server on this machine. */
export async function openWire(port: number): Promise<Wire> {
  return new Wire(await connectTo(port, false));
}

/**
 * A connection that distinguishes a reset from an end, also on Node 22. For that it may send an empty line at the
 * end.
 */
export async function openWireThatTellsResets(port: number): Promise<Wire> {
  return new Wire(await connectTo(port, MISTAKES_RESETS), MISTAKES_RESETS);
}

async function connectTo(port: number, allowHalfOpen: boolean): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen });
  await once(socket, 'connect');
  return socket;
}
