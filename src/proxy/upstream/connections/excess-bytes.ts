import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

const guards = new WeakMap<Socket, () => void>();

/**
 * Closes a connection of Node's agent if bytes arrive on it after a response is complete. They belong to no request, and
 * the rest of them would be read as the next response. Node drops them, and Node 22 also while the connection is idle.
 */
export function refuseExcess(answer: IncomingMessage): void {
  const { socket } = answer;
  const guard = (): void => {
    if (answer.complete) socket.destroy();
  };
  // It sees each piece before the parser does.
  socket.prependListener('data', guard);
  guards.set(socket, guard);
}

/** The connection has another request, whose response may arrive. */
export function expectAnswer(socket: Socket): void {
  const guard = guards.get(socket);
  if (!guard) return;
  socket.off('data', guard);
  guards.delete(socket);
}
