import type { IncomingHttpHeaders } from 'node:http';
import { isEncoded, isEventStream } from '../answer-head.ts';
import { HeaderBlock } from '../header-block.ts';
import type { HeaderList } from '../header-list.ts';
import { clientResponseHeaders, type ResponseHeaderRules } from '../response-headers.ts';

/** What the headers of one client's answer depend on beside those of the upstream. */
export type AnswerRules = Omit<ResponseHeaderRules, 'status'>;

/** The status and headers of an upstream's answer to a read, as one or more clients get them. */
export class ReadHead {
  readonly statusCode: number;
  readonly isEventStream: boolean;
  /** By undici, names in lower case, values latin1; of a name that came twice a list. */
  private readonly byName: Readonly<Record<string, string | string[] | undefined>>;
  private forAll: HeaderBlock | undefined;

  constructor(statusCode: number, headers: IncomingHttpHeaders) {
    this.statusCode = statusCode;
    this.byName = headers;
    this.isEventStream = isEventStream(this.header('content-type'));
  }

  /** The value of a header; of one that came in several lines, all of them (RFC 9110 §5.3). */
  header(name: string): string | undefined {
    const value = this.byName[name];
    return typeof value === 'object' ? value.join(', ') : value;
  }

  /** Whether the body's events cannot be told apart, because they are compressed. */
  get isEncoded(): boolean {
    return isEncoded(this.header('content-encoding'));
  }

  /** The length that the answer declares of its body in bytes, if it does. */
  get contentLength(): number | undefined {
    const declared = this.header('content-length');
    return declared === undefined ? undefined : Number(declared);
  }

  /**
   * The headers for one client. All get the same, but for a `Location`, which has the client's address.
   * Throws `upstream_invalid_response` where one cannot be sent.
   */
  headersFor(rules: AnswerRules): HeaderBlock {
    if (this.forAll) return this.forAll;
    const headers = new HeaderBlock(
      clientResponseHeaders(rawHeaders(this.byName), { ...rules, status: this.statusCode }),
    );
    if (this.byName.location === undefined) this.forAll = headers;
    return headers;
  }
}

function rawHeaders(byName: ReadHead['byName']): HeaderList {
  const raw: HeaderList = [];
  for (const name of Object.keys(byName)) {
    const value = byName[name];
    if (typeof value === 'string') raw.push(name, value);
    else for (const one of value ?? []) raw.push(name, one);
  }
  return raw;
}
