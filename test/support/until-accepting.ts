import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from './until.ts';

/** Resolves once a server takes connections on this port. */
export function untilAccepting(port: number): Promise<void> {
  return until(`something listens on port ${port}`, async () => {
    const socket = connect(port, '127.0.0.1');
    const isAccepting = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isAccepting;
  });
}
