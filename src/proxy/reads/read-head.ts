import { isEncoded, isEventStream } from '../answer-head.ts';
import { HeaderBlock } from '../header-block.ts';
import { headerValue, type HeaderList } from '../../http/header-list.ts';
import { clientResponseHeaders, type ResponseHeaderRules } from '../response-headers.ts';

/** What the headers of an answer depend on beside those of the upstream; the same for all that share it. */
export type AnswerRules = Omit<ResponseHeaderRules, 'status'>;

/** The status and headers of an upstream's answer to a read, as one or more clients get them. */
export class ReadHead {
  readonly statusCode: number;
  readonly isEventStream: boolean;
  /** As they came; values are latin1. */
  private readonly raw: HeaderList;
  private forAll: HeaderBlock | undefined;

  constructor(statusCode: number, raw: HeaderList) {
    this.statusCode = statusCode;
    this.raw = raw;
    this.isEventStream = isEventStream(this.header('content-type'));
  }

  /** The value of a header by its name in lower case; of several lines, all of them (RFC 9110 §5.3). */
  header(lowerName: string): string | undefined {
    return headerValue(this.raw, lowerName);
  }

  /** Whether the events are compressed, so that their boundaries are not visible. */
  get isEncoded(): boolean {
    return isEncoded(this.header('content-encoding'));
  }

  /** The length that the answer declares of its body in bytes, if it does. */
  get contentLength(): number | undefined {
    const declared = this.header('content-length');
    return declared === undefined ? undefined : Number(declared);
  }

  /** The headers for a client; all get the same. Throws `upstream_invalid_response` where one cannot be sent. */
  headersFor(rules: AnswerRules): HeaderBlock {
    this.forAll ??= new HeaderBlock(
      clientResponseHeaders(this.raw, { ...rules, status: this.statusCode }),
    );
    return this.forAll;
  }
}
