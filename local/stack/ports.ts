import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';

/**
 * Ports that no system gives out by itself, neither for a connection nor for "any free one" (IANA's dynamic ports begin
 * at 49,152, Linux' at 32,768). What is chosen here is free for a moment before it is listened on: another process
 * must not be given it meanwhile. `fetch` refuses 10,080, among others that are lower (Fetch standard, "bad port").
 */
const FIRST_PORT = 10_100;
const PORT_COUNT = 20_000;
const MAX_TRIES = 100;
/** Longer than it takes until a chosen port is listened on. */
const RESERVED_MS = 120_000;

/** The ports that this process has reserved. */
const reserved = new Set<number>();

/**
 * For each name the wanted port if it is free on the loopback interface, or else a free one. 0 means any free one.
 * All ports differ.
 */
export async function choosePorts<Name extends string>(
  wanted: Record<Name, number>,
): Promise<Record<Name, number>> {
  const held: Server[] = [];
  const chosen = { ...wanted };
  try {
    for (const name of Object.keys(wanted) as Name[]) {
      const server = (await listenOnWanted(wanted[name])) ?? (await listenAnywhere());
      if (!server) throw new Error('No port is free.');
      // Each is held until all are chosen, because a released port could be chosen twice.
      held.push(server);
      chosen[name] = (server.address() as AddressInfo).port;
    }
  } finally {
    await Promise.all(held.map(close));
  }
  return chosen;
}

async function listenOnWanted(port: number): Promise<Server | undefined> {
  return port !== 0 && (await reserve(port)) ? listen(port) : undefined;
}

async function listenAnywhere(): Promise<Server | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORT_COUNT);
    const server = !reserved.has(port) && (await reserve(port)) && (await listen(port));
    if (server) return server;
  }
  return undefined;
}

/**
 * Keeps other processes from choosing this port too, before somebody listens on it: they cannot have the UDP port of the same
 * number, which nothing else uses. It ends with this process. False if another process has it.
 */
async function reserve(port: number): Promise<boolean> {
  const isDrawn = port >= FIRST_PORT && port < FIRST_PORT + PORT_COUNT;
  if (!isDrawn || reserved.has(port)) return true;
  const socket = createSocket('udp4').unref();
  try {
    socket.bind({ port, address: '127.0.0.1', exclusive: true });
    await once(socket, 'listening');
  } catch {
    socket.close();
    return false;
  }
  reserved.add(port);
  setTimeout(() => {
    reserved.delete(port);
    socket.close();
  }, RESERVED_MS).unref();
  return true;
}

async function listen(port: number): Promise<Server | undefined> {
  const server = createServer().listen({ port, host: '127.0.0.1' });
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' || code === 'EACCES') return undefined;
    throw error;
  }
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
