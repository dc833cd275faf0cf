import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { within } from '../clock/within.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { GatewayState } from './gateway-state.ts';
import type { OpenRequests } from './open-requests.ts';
import type { Connections } from './connections.ts';

/** The shares of the drain's time at which its phases begin. */
const LISTENER_CLOSES_AT = 0.2;
/** How long a new connection may take for its first request, from the close of the listener on. */
const FIRST_REQUEST_MS = 200;
const PARKED_READS_END_AT = 0.8;
/**
 * Reads end one after the other until this share of the time before the hard deadline, so that clients do not all
 * return at once.
 */
const LAST_READ_ENDS_BEFORE = 0.05;

export interface DrainParts {
  server: Server;
  connections: Connections;
  openRequests: OpenRequests;
  state: GatewayState;
  logger: Logger;
  /** Whether load balancers get time to notice before the listener closes. */
  hasLameDuck: boolean;
  /** The longest time from the signal to the end of the process. */
  timeoutMs: number;
  /** The share of that time at which the hard deadline comes. The rest is for what follows the drain. */
  hardDeadlineAt: number;
}

/**
 * Takes a gateway out of service without losing a request. 1. Lame duck, if the caller wants one: readiness says 503,
 * and the listener stays open while load balancers notice. 2. The listener closes, requests in progress finish, and
 * idle connections are closed, those without a first request a little later. 3. At the soft deadline parked reads get
 * a 503 that sends them to another copy, and event streams end where their reader can resume. New requests on kept
 * connections get the same 503. 4. At the hard deadline everything that is left is broken off: a half-sent body must
 * not look whole, and a command that the runtime may have must not get a response that invites a retry. Resolves when
 * nothing is left, or at the hard deadline.
 */
export async function drain(parts: DrainParts): Promise<void> {
  const { server, connections, openRequests, state } = parts;
  const { hasLameDuck, timeoutMs, hardDeadlineAt } = parts;
  const startedAtMs = performance.now();
  const untilShare = (share: number): number =>
    Math.max(0, share * timeoutMs - (performance.now() - startedAtMs));

  connections.announceClose();
  if (hasLameDuck) {
    state.phase = 'lame-duck';
    await sleep(untilShare(LISTENER_CLOSES_AT));
  }

  state.phase = 'closing';
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  connections.closeIdle();
  const closesUnused = setTimeout(() => connections.closeUnused(), FIRST_REQUEST_MS);
  const endReads = scheduleEndOfReads(parts, untilShare);
  await within(untilShare(hardDeadlineAt), closed);
  clearTimeout(closesUnused);
  endReads.callOff();
  if (openRequests.size > 0) {
    parts.logger.warn({ requests: openRequests.size }, 'requests broken off at the drain deadline');
  }
  connections.destroyAll();
  // Waits until the log has a line for each broken request.
  await closed;
}

/** Ends parked reads one after the other, from the soft deadline over the time that is left. */
function scheduleEndOfReads(
  { openRequests, state, hardDeadlineAt }: DrainParts,
  untilShare: (share: number) => number,
): { callOff: () => void } {
  const lastReadEndsAt = hardDeadlineAt - LAST_READ_ENDS_BEFORE;
  const timers: NodeJS.Timeout[] = [];
  const softDeadline = (): void => {
    state.phase = 'refusing';
    const reads = openRequests.reads();
    const spanMs = untilShare(lastReadEndsAt);
    for (const [index, read] of reads.entries()) {
      timers.push(
        setTimeout(() => read.openRead?.endEarly(drainingError()), (spanMs * index) / reads.length),
      );
    }
  };
  // This includes reads that were admitted before the soft deadline and parked after it.
  const lastCall = (): void =>
    openRequests.reads().forEach((read) => read.openRead?.endEarly(drainingError()));
  timers.push(setTimeout(softDeadline, untilShare(PARKED_READS_END_AT)));
  timers.push(setTimeout(lastCall, untilShare(lastReadEndsAt)));
  return { callOff: () => timers.forEach((timer) => clearTimeout(timer)) };
}

/** A 503 that sends the client to another copy. It is used only if nothing was sent to an upstream. */
export function drainingError(): GatewayError {
  return new GatewayError('draining', 'This copy of the gateway is shutting down; try again.', {
    headers: { 'Retry-After': '1' },
  });
}
