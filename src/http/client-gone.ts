/** The status of such a request in logs, metrics and traces, as nginx has it; it is never sent. */
export const CLIENT_GONE_STATUS = 499;

/** The client has gone before its answer began; there is nobody left to answer. */
export class ClientGone extends Error {
  constructor() {
    super('the client has gone');
    this.name = 'ClientGone';
  }
}
