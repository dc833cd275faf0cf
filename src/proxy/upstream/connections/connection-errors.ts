/** No connection opened in time. */
export class ConnectTimeout extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(timeoutMs: number) {
    super(`no connection within ${timeoutMs} ms`);
  }
}

/** A body began, and no further byte of it arrived. */
export class BodyStalled extends Error {
  constructor(stallMs: number) {
    super(`no byte of the upstream's answer came for ${stallMs} ms`);
  }
}

/** The connection ended without an error. */
export class ConnectionClosed extends Error {
  constructor() {
    super('the upstream closed the connection');
  }
}
