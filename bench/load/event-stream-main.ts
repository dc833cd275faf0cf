import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { API_KEY } from '../contenders/contender.ts';

/**
 * Many readers of one event stream (SSE), each with a connection of its own, and as little work for
 * each event as Node allows. Prints what `follow.lua` prints.
 *
 * Arguments: URL of the stream with its query, number of readers.
 */
const CONNECTING_AT_ONCE = 200;
const BUFFER_BYTES = 65_536;
const EVENT = /"seq":(\d+),"atUs":(\d+)/;

const [url = '', readersText = ''] = process.argv.slice(2);
const { host, hostname, port, pathname, search } = new URL(url);
const readers = Number(readersText);
const request = `GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${API_KEY}\r\nAccept: text/event-stream\r\n\r\n`;
// One for all: what comes is looked at before the next read.
const buffer = Buffer.allocUnsafe(BUFFER_BYTES);

let seq = -1;
let delaysUs: number[] = [];

function look(length: number): boolean {
  const atUs = Number(process.hrtime.bigint() / 1000n);
  const text = buffer.toString('latin1', 0, length);
  const [, event, appendedUs] = EVENT.exec(text) ?? [];
  if (event !== undefined) count(Number(event), atUs - Number(appendedUs));
  else if (text.startsWith('HTTP/1.1') && !text.startsWith('HTTP/1.1 200')) {
    console.log(`GIVEN UP ${text.slice(0, 200).replace(/\s+/g, ' ')}`);
    process.exit(1);
  }
  return true;
}

function count(event: number, delayUs: number): void {
  if (event !== seq) {
    seq = event;
    delaysUs = [];
  }
  delaysUs.push(delayUs);
  if (delaysUs.length === readers) console.log(`EVENT ${seq} ${delaysUs.join(',')}`);
}

function open(): Socket {
  const onread = { buffer, callback: look };
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread });
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => fail('an event stream has ended'));
  return socket;
}

function fail(reason: string): never {
  console.log(`GIVEN UP ${reason}`);
  process.exit(1);
}

for (let opened = 0; opened < readers; opened += CONNECTING_AT_ONCE) {
  const batch = Array.from({ length: Math.min(CONNECTING_AT_ONCE, readers - opened) }, open);
  await Promise.all(batch.map((socket) => once(socket, 'connect')));
  for (const socket of batch) socket.write(request);
}
