/** The client has gone before its answer began; there is nobody left to answer. */
export class ClientGone extends Error {
  constructor() {
    super('the client has gone');
    this.name = 'ClientGone';
  }
}
