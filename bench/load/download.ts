import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { API_KEY } from '../contenders/contender.ts';

const BUFFER_BYTES = 262_144;
const TIMEOUT_MS = 120_000;

/**
 * Reads a body to its end and throws it away, with as little work as Node allows; gives the
 * milliseconds it took. Rejects unless it is 200 and of just this length.
 */
export function download(url: string, lengthBytes: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAtMs = performance.now();
    let head = '';
    let left = lengthBytes;
    const socket = get(url, (bytes) => {
      if (head.includes(END_OF_HEAD)) left -= bytes.length;
      else {
        head += bytes.toString('latin1');
        const end = head.indexOf(END_OF_HEAD);
        if (end !== -1) left -= head.length - end - END_OF_HEAD.length;
      }
      if (left > 0) return;
      socket.destroy();
      const isRight = left === 0 && isWholeAnswer(head, lengthBytes);
      if (isRight) resolve(performance.now() - startedAtMs);
      else reject(new Error(`not the answer that was asked for: ${head.slice(0, 300)}`));
    });
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('nothing came any more')));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`the body ended ${left} bytes early`)));
  });
}

/** Begins to read a body, then stops reading for this long, like a client on a slow connection. */
export async function stall(url: string, forMs: number): Promise<void> {
  const begun = Promise.withResolvers<void>();
  const socket = get(url, () => {
    begun.resolve();
    return false;
  });
  socket.on('error', begun.reject);
  await begun.promise;
  await sleep(forMs);
  socket.destroy();
}

const END_OF_HEAD = '\r\n\r\n';

function isWholeAnswer(head: string, lengthBytes: number): boolean {
  const length = /^content-length: (\d+)\r$/im.exec(head)?.[1];
  return head.startsWith('HTTP/1.1 200 ') && Number(length) === lengthBytes;
}

/** `onBytes` gets each piece of the body, which is valid until it returns. If it returns false, reading stops. */
function get(url: string, onBytes: (bytes: Buffer) => boolean | void): Socket {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect({
    host: hostname,
    port: Number(port),
    onread: {
      buffer: Buffer.alloc(BUFFER_BYTES),
      callback: (length, buffer) =>
        onBytes(Buffer.from(buffer.buffer, buffer.byteOffset, length)) !== false,
    },
  });
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`,
  );
  return socket;
}
