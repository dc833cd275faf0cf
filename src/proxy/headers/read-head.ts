import { headerValue, type HeaderList } from '../../platform/http/header-list.ts';
import { isEncoded, isEventStream } from '../upstream/media-types.ts';
import { clientResponseHeaders, type AnswerRules } from './response-headers.ts';

/** The status and headers of an upstream's response to a read, for one or more clients. */
export class ReadHead {
  readonly statusCode: number;
  readonly isEventStream: boolean;
  /** The headers as received. Values are latin1. */
  private readonly raw: HeaderList;
  private forAll: HeaderList | undefined;

  constructor(statusCode: number, raw: HeaderList) {
    this.statusCode = statusCode;
    this.raw = raw;
    this.isEventStream = isEventStream(this.header('content-type'));
  }

  /** The value of a header by its name in lower case. Several lines are joined (RFC 9110 §5.3). */
  header(lowerName: string): string | undefined {
    return headerValue(this.raw, lowerName);
  }

  /** Whether the events are compressed, so that their boundaries are not visible. */
  get isEncoded(): boolean {
    return isEncoded(this.header('content-encoding'));
  }

  /**
   * Whether the response is for one reader alone: it depends on something besides the headers of its request (RFC 9110
   * §12.5.5). Of the headers, only those in the key have reached the upstream.
   */
  get isForOne(): boolean {
    const names = this.header('vary')?.split(',') ?? [];
    return names.some((name) => name.trim() === '*');
  }

  /** Whether the response declares the length of its body. */
  get hasLength(): boolean {
    return this.header('content-length') !== undefined;
  }

  /**
   * The headers for a client; they are the same for all. Throws `upstream_invalid_response` if one cannot be sent.
   */
  headersFor(rules: AnswerRules): HeaderList {
    return (this.forAll ??= clientResponseHeaders(this.raw, this.statusCode, rules));
  }
}
