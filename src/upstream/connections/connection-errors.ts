/** No connection in time. */
export class ConnectTimeout extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(timeoutMs: number) {
    super(`no connection within ${timeoutMs} ms`);
  }
}

/** A body has begun, and nothing more of it came. */
export class BodyStalled extends Error {
  constructor(stallMs: number) {
    super(`no byte of the upstream's answer came for ${stallMs} ms`);
  }
}

/** The connection has ended without a word of why. */
export class ConnectionClosed extends Error {
  constructor() {
    super('the upstream closed the connection');
  }
}
