import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';

const TYPE_A = 1;
const NOT_FOUND = 3;
const TTL_SECONDS = 1;

export interface NameServer {
  /** Its address; the port is 53. */
  address: string;
  /** The IPv4 addresses of names. Of any other name it says that there is none. */
  known: Map<string, string[]>;
  /** Names about which it says nothing at all. */
  silent: Set<string>;
  /** Every question: the name and the type (1 is A, 28 is AAAA). */
  asked: { name: string; type: number }[];
  stop(): Promise<void>;
}

/** Starts a server of DNS (RFC 1035) on an address of the loopback network. It needs root. */
export async function startNameServer(): Promise<NameServer> {
  // Each process has one of its own.
  const address = `127.77.${(process.pid >> 8) & 255}.${process.pid & 255}`;
  const socket = createSocket('udp4');
  const server: NameServer = {
    address,
    known: new Map(),
    silent: new Set(),
    asked: [],
    stop: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    const { name, type, end } = questionOf(query);
    server.asked.push({ name, type });
    if (server.silent.has(name)) return;
    socket.send(
      answerTo(query.subarray(0, end), type, server.known.get(name)),
      from.port,
      from.address,
    );
  });
  socket.bind(53, address);
  await once(socket, 'listening');
  return server;
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answerTo(question: Buffer, type: number, addresses: string[] | undefined): Buffer {
  const head = Buffer.from(question);
  const found = type === TYPE_A ? (addresses ?? []) : [];
  // A response, with recursion as asked for and available.
  head.writeUInt16BE(0x8180 | (addresses ? 0 : NOT_FOUND), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(found.length, 6);
  head.writeUInt32BE(0, 8);
  const records = found.map((address) => {
    const record = Buffer.alloc(16);
    // The name of the question.
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(TYPE_A, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(TTL_SECONDS, 6);
    record.writeUInt16BE(4, 10);
    address.split('.').forEach((part, i) => record.writeUInt8(Number(part), 12 + i));
    return record;
  });
  return Buffer.concat([head, ...records]);
}
