import { connect } from 'node:net';
import { awaited } from './until.ts';

/**
 * Sends bytes to a server as they are and resolves with everything it answers until it closes the
 * connection. For requests that no HTTP client would send; ask for `Connection: close` in them.
 */
export function sendRaw(port: number, request: string | Buffer): Promise<string> {
  let answer = '';
  const whole = new Promise<string>((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(request));
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => (answer += chunk));
    socket.once('close', () => resolve(answer));
    socket.once('error', reject);
  });
  return awaited(() => `the end of an answer, after ${answer.slice(0, 1_000)}`, whole);
}

/** Sends a request line and headers as text. `Host` and `Connection: close` are added. */
export function rawRequest(line: string, headers: string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: gateway.test', 'Connection: close', ...headers, '', body].join(
    '\r\n',
  );
}

/** The status and body of a response from `sendRaw`. A chunked body is not decoded. */
export function parseRaw(answer: string): { status: number; head: string; body: string } {
  const headEnd = answer.indexOf('\r\n\r\n');
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]),
    head: answer.slice(0, headEnd),
    body: answer.slice(headEnd + 4),
  };
}

/** Sends a request as `rawRequest` makes it, and resolves with the parts of its response. */
export async function rawAnswer(
  port: number,
  line: string,
  headers?: string[],
  body?: string,
): Promise<ReturnType<typeof parseRaw>> {
  return parseRaw(await sendRaw(port, rawRequest(line, headers, body)));
}
