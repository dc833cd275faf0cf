import { connect } from 'node:net';
import { resetConnection } from '../../src/platform/http/reset-connection.ts';
import { Answers } from './answers.ts';
import { parseRequests, type ParsedRequests } from './request-bytes.ts';

/** Every expected byte arrives within this time on any machine. It is no test of speed. */
const DEADLINE_MS = 20_000;

export interface RawOutcome {
  answers: Answers;
  parsed: ParsedRequests;
  /** Why this connection did not end as it had to. */
  fault: string | undefined;
}

/**
 * Sends bytes, and says that nothing more comes as soon as every request that is whole is answered. Then the gateway
 * has to end the connection, and before where the bytes are no request: an end by the deadline is a fault.
 */
export function exchangeRaw(port: number, bytes: Buffer): Promise<RawOutcome> {
  const parsed = parseRequests(bytes);
  const answers = new Answers(parsed.methods);
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const settle = (fault?: string): void => {
      clearTimeout(deadline);
      socket.removeAllListeners('close');
      if (!socket.destroyed) resetConnection(socket);
      resolve({ answers, parsed, fault: fault ?? answers.fault });
    };
    const deadline = setTimeout(
      () => settle(`stays open behind ${answers.wholeCount} of ${parsed.whole} answers`),
      DEADLINE_MS,
    );
    const endIfAnswered = (): void => {
      if (!parsed.isRefused && answers.wholeCount >= parsed.whole && socket.writable) socket.end();
    };
    socket.once('connect', () => socket.write(bytes, endIfAnswered));
    socket.on('data', (piece: Buffer) => {
      answers.feed(piece);
      if (answers.fault === undefined) endIfAnswered();
      else settle();
    });
    socket.on('error', () => undefined);
    socket.once('end', () => {
      answers.finish();
      settle();
    });
    socket.once('close', () => settle());
  });
}
