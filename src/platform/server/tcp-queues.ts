import { readFile } from 'node:fs/promises';
import { isIPv6, type Socket } from 'node:net';
import { systemText } from '../process/system-file.ts';
import { ipv6Groups } from '../http/ip-nets.ts';

/** Every Linux has both tables. That of IPv6 is missing if IPv6 is off. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** What the kernel holds for a connection, in bytes. */
interface Queue {
  /** What was passed to the kernel and the other end has not acknowledged. */
  unsentBytes: number;
  /** What the other end has sent and this process has not read. */
  unreadBytes: number;
}

const EMPTY: Queue = { unsentBytes: 0, unreadBytes: 0 };

/** What the kernel holds for each connection for which it holds anything. */
export class TcpQueues {
  private readonly queues = new Map<string, Queue>();

  /** `texts` are the kernel's tables. */
  constructor(texts: readonly string[]) {
    for (const text of texts) {
      for (const [, key = '', unsent = '', unread = ''] of text.matchAll(USED_LINES)) {
        this.queues.set(key, {
          unsentBytes: Number.parseInt(unsent, 16),
          unreadBytes: Number.parseInt(unread, 16),
        });
      }
    }
  }

  of(socket: Socket): Queue {
    const key = this.queues.size === 0 ? undefined : connectionKey(socket);
    return (key === undefined ? undefined : this.queues.get(key)) ?? EMPTY;
  }
}

/** The lines with a queue that is not empty: local address, remote address, state, both queues (proc(5)). */
const USED_LINES =
  /: ([0-9A-F]+:[0-9A-F]{4} [0-9A-F]+:[0-9A-F]{4}) [0-9A-F]{2} (?!00000000:00000000)([0-9A-F]{8}):([0-9A-F]{8})/g;

/**
 * Reads what the kernel holds (proc(5), `/proc/net/tcp`: `tx_queue` and `rx_queue`). Node reports only what it has
 * passed on. Undefined if there is no such table, as on systems other than Linux.
 */
export async function readTcpQueues(): Promise<TcpQueues | undefined> {
  return queuesIn(
    await Promise.all(TABLES.map((table) => readFile(table, 'latin1').catch(() => ''))),
  );
}

/** The synchronous form. It takes milliseconds with thousands of connections. */
export function readTcpQueuesSync(): TcpQueues | undefined {
  return queuesIn(TABLES.map(systemText));
}

function queuesIn(tables: readonly string[]): TcpQueues | undefined {
  const texts = tables.filter((text) => text !== '');
  return texts.length === 0 ? undefined : new TcpQueues(texts);
}

/** A connection's name in the kernel's table, or undefined if the socket is closed. */
function connectionKey({
  localAddress,
  localPort,
  remoteAddress,
  remotePort,
}: Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>):
  string | undefined {
  if (!localAddress || !localPort || !remoteAddress || !remotePort) return undefined;
  return `${hexAddress(localAddress)}:${hexPort(localPort)} ${hexAddress(remoteAddress)}:${hexPort(remotePort)}`;
}

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

/** The kernel writes addresses in pieces of 32 bits, in the byte order of the machine. */
function hexAddress(address: string): string {
  const bytes = isIPv6(address)
    ? ipv6Groups(address).flatMap((group) => [group >> 8, group & 255])
    : address.split('.').map(Number);
  let text = '';
  for (let i = 0; i < bytes.length; i += 4) {
    const word = bytes.slice(i, i + 4);
    if (isLittleEndian) word.reverse();
    for (const byte of word) text += byte.toString(16).toUpperCase().padStart(2, '0');
  }
  return text;
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
