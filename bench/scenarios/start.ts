import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { choosePorts } from '../../local/stack/ports.ts';
import { rejectWhenEnded, startProcess } from '../../local/stack/process.ts';
import { GATEWAY_MAIN, gatewayEnvironment } from '../contenders/gateway.ts';
import { spread, type Spread } from '../measure/statistics.ts';
import type { BenchContext } from './context.ts';

const STARTS_PER_ROUND = 3;
const POLL_MS = 2;

export interface StartTable {
  starts: number;
  /** From the start of the process to the end of its first answer, a 200 of `/health`. */
  firstAnswerMs: Spread;
}

/**
 * Measures how soon a copy answers that has run before. The first start does not count. It fills the file cache, and at its end
 * Node keeps what it has compiled.
 */
export async function measureStart({ options, say }: BenchContext): Promise<StartTable> {
  const starts = options.rounds * STARTS_PER_ROUND;
  const tookMs: number[] = [];
  for (let at = 0; at <= starts; at++) {
    const ms = await startOnce({ isFirst: at === 0 });
    if (at > 0) tookMs.push(ms);
  }
  const firstAnswerMs = spread(tookMs);
  say(`first answer after ${Math.round(firstAnswerMs.median)} ms`);
  return { starts, firstAnswerMs };
}

async function startOnce({ isFirst }: { isFirst: boolean }): Promise<number> {
  const ports = await choosePorts({ port: 0, managementPort: 0 });
  const startedAtMs = performance.now();
  const gateway = startProcess({
    name: 'gateway',
    command: process.execPath,
    args: [GATEWAY_MAIN],
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...gatewayEnvironment(ports) },
  });
  try {
    const answered = untilAnswered(ports.port);
    await Promise.race([answered, rejectWhenEnded(gateway)]);
    return performance.now() - startedAtMs;
  } finally {
    await (isFirst ? gateway.stop() : gateway.kill());
  }
}

async function untilAnswered(port: number): Promise<void> {
  while (!(await isAnswered(port))) await sleep(POLL_MS);
}

/** Plain sockets, because loading an HTTP client would take a part of the measured time. */
function isAnswered(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      answer += text;
    });
    socket.on('error', () => resolve(false));
    socket.on('close', () => resolve(answer.startsWith('HTTP/1.1 200 ')));
  });
}
