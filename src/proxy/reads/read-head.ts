import type { IncomingHttpHeaders } from 'node:http';
import {
  clientResponseHeaders,
  type ResponseHeader,
  type ResponseHeaderRules,
} from '../response-headers.ts';
import { isEncoded, isEventStream } from '../answer-head.ts';

/** What the headers of one client's answer depend on beside those of the upstream. */
export type AnswerRules = Omit<ResponseHeaderRules, 'status'>;

/** The status and headers of an upstream's answer to a read, as one or more clients get them. */
export class ReadHead {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly isEventStream: boolean;
  private forAll: ResponseHeader[] | undefined;

  /** Header names are in lower case, values latin1. */
  constructor(statusCode: number, headers: IncomingHttpHeaders) {
    this.statusCode = statusCode;
    this.headers = headers;
    this.isEventStream = isEventStream(headers);
  }

  /** Whether the body's events cannot be told apart, because they are compressed. */
  get isEncoded(): boolean {
    return isEncoded(this.headers);
  }

  /** The length that the answer declares of its body in bytes, if it does. */
  get contentLength(): number | undefined {
    const declared = this.headers['content-length'];
    return declared === undefined ? undefined : Number(declared);
  }

  /** The headers for one client. All get the same, but for a `Location`, which has the client's address. */
  headersFor(rules: () => AnswerRules): ResponseHeader[] {
    if (this.forAll) return this.forAll;
    const headers = clientResponseHeaders(rawHeaders(this.headers), {
      ...rules(),
      status: this.statusCode,
    });
    if (this.headers.location === undefined) this.forAll = headers;
    return headers;
  }
}

function rawHeaders(headers: IncomingHttpHeaders): string[] {
  const raw: string[] = [];
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (typeof value === 'string') raw.push(name, value);
    else for (const one of value ?? []) raw.push(name, one);
  }
  return raw;
}
