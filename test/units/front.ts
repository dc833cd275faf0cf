import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { READY_TIMEOUT_MS, startProcess, untilReady } from '../../local/stack/process.ts';
import { AUTHORIZED } from '../support/credentials.ts';
import { TLS_IDENTITY } from '../support/tls-identity.ts';

const CONFIGURATION = join(import.meta.dirname, '../../deploy/haproxy/haproxy.cfg');

export interface FrontConfiguration {
  file: string;
  remove: () => Promise<void>;
}

/**
 * The project's HAProxy configuration, with a certificate of the tests. It is without the user, which a user namespace does not
 * have, and with fewer connections, for which the limit of open files is enough.
 */
export async function frontConfiguration(
  change: (text: string) => string = (text) => text,
): Promise<FrontConfiguration> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-front-'));
  const certificate = join(folder, 'gateway.pem');
  await writeFile(certificate, `${TLS_IDENTITY.cert}\n${TLS_IDENTITY.key}\n`);
  const text = await readFile(CONFIGURATION, 'utf8');
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, withoutUser(change(text)).replace('/etc/haproxy/gateway.pem', certificate));
  return { file, remove: () => rm(folder, { recursive: true }) };
}

export function withoutUser(text: string): string {
  return text
    .replace(/^ {2}(?:user|group) .*\n/gm, '')
    .replace(/^ {2}maxconn .*$/m, '  maxconn 1000');
}

/** HAProxy on its own ports, 80 and 443. Resolves when it passes requests on. */
export async function startFront(): Promise<{ stop(): Promise<void> }> {
  const { file, remove } = await frontConfiguration();
  const haproxy = startProcess({
    name: 'haproxy',
    command: 'haproxy',
    args: ['-db', '-f', file],
    env: { PATH: process.env.PATH },
  });
  await untilReady(haproxy, READY_TIMEOUT_MS, untilAnswered);
  return {
    stop: async () => {
      await haproxy.stop();
      await remove();
    },
  };
}

async function untilAnswered(signal: AbortSignal): Promise<void> {
  const session = await connectToFront(signal);
  while ((await session.send({ method: 'GET', path: '/health' })) !== 200) {
    signal.throwIfAborted();
  }
  session.close();
}

export interface FrontSession {
  /** Resolves with the status, or with what went wrong. */
  send(request: { method: string; path: string }): Promise<number | string>;
  close(): void;
}

/** An HTTP/2 connection. Connects again while nothing listens there yet. */
export async function connectToFront(signal?: AbortSignal): Promise<FrontSession> {
  for (;;) {
    signal?.throwIfAborted();
    const session = connect('https://localhost:443', { ca: TLS_IDENTITY.cert });
    try {
      await once(session, 'connect');
    } catch {
      continue;
    }
    session.on('error', () => undefined);
    return { send: (request) => send(session, request), close: () => session.close() };
  }
}

function send(
  session: ReturnType<typeof connect>,
  { method, path }: { method: string; path: string },
): Promise<number | string> {
  return new Promise((resolve) => {
    const stream = session.request({ ':method': method, ':path': path, ...AUTHORIZED });
    stream.on('response', ({ ':status': status = 0 }) => {
      stream.resume().on('end', () => resolve(status));
    });
    stream.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => resolve(code));
    stream.end(method === 'POST' ? '{}' : undefined);
  });
}
