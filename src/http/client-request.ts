import type { IncomingMessage } from 'node:http';

/** A client's request. Node has one class for requests and answers, and so leaves open what each request has. */
export interface ClientRequest extends IncomingMessage {
  method: string;
  url: string;
}
