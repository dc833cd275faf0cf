import { connect } from 'node:net';
import { resetConnection } from '../../src/platform/http/reset-connection.ts';
import type { Random } from '../soak/random.ts';
import { Answers } from './answers.ts';

/** Every expected byte arrives within this time on any machine. It is no test of speed. */
const DEADLINE_MS = 30_000;
const MAX_PAUSES = 30;

/** What a client does besides sending requests, and after how many bytes. */
export interface Manner {
  kind: 'plain' | 'slow' | 'stops' | 'aborts its request' | 'aborts the answer' | 'half-closes';
  atBytes: number;
  pauseMs: number;
  byReset: boolean;
}

export function randomManner(random: Random): Manner {
  return {
    kind: random.pick([
      'plain',
      'plain',
      'plain',
      'slow',
      'stops',
      'aborts its request',
      'aborts the answer',
      'half-closes',
    ]),
    atBytes: random.whole(1, random.pick([100, 3_000, 100_000])),
    pauseMs: random.whole(1, 20),
    byReset: random.oneIn(2),
  };
}

export interface CrowdClient {
  manner: Manner;
  methods: readonly string[];
  bytes: Buffer;
  /** Sent once the client is asked for it. */
  later?: Buffer;
  /** Whether everything has come that will ever come. */
  isDone: (answers: Answers) => boolean;
}

/** How its connection ended. `stuck` means that something did not arrive and nobody closed it. */
export interface Outcome {
  answers: Answers;
  end: 'done' | 'left' | 'closed' | 'stuck';
}

/** Follows the manner until all has come or the gateway has closed the connection. Never rejects. */
export function playClient(
  { manner, methods, bytes, later, isDone }: CrowdClient,
  port: number,
  roundOver: Promise<void>,
): Promise<Outcome> {
  const answers = new Answers(methods);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let received = 0;
  let pauses = 0;
  let unsent = later;
  return new Promise((resolve) => {
    const settle = (end: Outcome['end']): void => {
      clearTimeout(deadline);
      resolve({ answers, end });
      if (!socket.destroyed) resetConnection(socket);
    };
    const deadline = setTimeout(() => settle('stuck'), DEADLINE_MS);
    const leave = (): void => {
      if (!manner.byReset) socket.destroy();
      settle('left');
    };

    const sendSlowly = (from: number): void => {
      const next = pauses++ < MAX_PAUSES ? from + manner.atBytes : bytes.length;
      if (!socket.destroyed) socket.write(bytes.subarray(from, next));
      if (next < bytes.length) setTimeout(sendSlowly, manner.pauseMs, next);
    };
    socket.once('connect', () => {
      if (manner.kind === 'slow') sendSlowly(0);
      else if (manner.kind === 'half-closes') socket.end(bytes);
      else if (manner.kind === 'aborts its request') {
        socket.write(bytes.subarray(0, manner.atBytes % bytes.length), leave);
      } else socket.write(bytes);
    });

    socket.on('data', (piece: Buffer) => {
      answers.feed(piece);
      received += piece.length;
      if (answers.fault !== undefined || isDone(answers)) return settle('done');
      if (unsent && answers.continues > 0) {
        socket.write(unsent);
        unsent = undefined;
      }
      if (manner.kind === 'slow' && pauses++ < MAX_PAUSES) {
        socket.pause();
        setTimeout(() => socket.resume(), manner.pauseMs);
      }
      if (received < manner.atBytes) return undefined;
      if (manner.kind === 'aborts the answer') leave();
      if (manner.kind === 'stops') {
        socket.pause();
        void roundOver.then(() => settle('left'));
      }
      return undefined;
    });
    socket.on('error', () => undefined);
    socket.once('end', () => {
      answers.finish();
      settle('closed');
    });
    socket.once('close', () => settle('closed'));
  });
}
