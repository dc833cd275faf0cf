/** The status of such a request in logs, metrics and traces, as in nginx. It is never sent. */
export const CLIENT_GONE_STATUS = 499;

/** The client disconnected before its response began, so nobody waits for it. */
export class ClientGone extends Error {
  constructor() {
    super('the client has gone');
    this.name = 'ClientGone';
  }
}
