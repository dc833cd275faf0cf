import type { Logger } from 'pino';
import { infoLines } from '../log/create-logger.ts';
import type { InfoLines } from '../log/info-lines.ts';
import type { EndedRequest, RequestObserver } from './request-observer.ts';
import { RefusalSummary } from './refusal-summary.ts';

const MAX_SUBJECT_LENGTH = 64;

/**
 * Writes one line per request when it ends. The line contains no query, headers or body, so that no credential can
 * leak. A long path is cut. Many refusals are summed up.
 */
export class RequestLog implements RequestObserver {
  private readonly logger: Logger;
  private readonly lines: InfoLines;
  private readonly refusals = new RefusalSummary((counts) =>
    this.logger.warn(counts, `refused ${counts.refused.toLocaleString('en')} more in this second`),
  );

  /** `bindings` are additional members of each line. */
  constructor(logger: Logger, bindings: Record<string, string> = {}) {
    this.logger = logger;
    this.lines = infoLines(logger, bindings);
  }

  ended(request: EndedRequest): void {
    if (!this.lines.isOn) return;
    const refusal = refusalOf(request);
    if (refusal !== undefined && !this.refusals.takesLine(refusal, request.context.address)) return;
    this.write(request);
  }

  /** Writes the last summary. */
  end(): void {
    this.refusals.end();
  }

  private write({ method, status, isWhole, durationMs, context }: EndedRequest): void {
    const { route, upstream, requestId, traceId, errorCode, errorReason, credential, subject } =
      context;
    const { address } = context;
    const tenths = Math.round(durationMs * 10);
    this.lines.write(
      // The method of bytes that are not a request is unknown.
      text(',"method":"', method || undefined) +
        text(',"route":"', route) +
        `,"path":${quoted(context.loggedPath)}` +
        `,"status":${status},"durationMs":${Math.trunc(tenths / 10)}.${tenths % 10}` +
        text(',"credential":"', credential) +
        (subject === undefined ? '' : `,"sub":${quoted(loggedSubject(subject))}`) +
        text(',"address":"', address) +
        text(',"upstream":"', upstream) +
        (context.logged === undefined ? '' : further(context.logged())) +
        text(',"requestId":"', requestId) +
        text(',"traceId":"', traceId) +
        text(',"code":"', errorCode) +
        text(',"reason":"', errorReason) +
        (isWhole ? '' : ',"broken":true'),
      'request',
    );
  }
}

/**
 * A member of the line, or nothing if the value is undefined. Only for values that need no escapes: methods, route
 * patterns, ids, codes. `name` includes everything before the value, because each concatenation costs time.
 */
function text(name: string, value: string | undefined): string {
  return value === undefined ? '' : `${name}${value}"`;
}

/** The minter of tokens chooses its content and length, so it is cut. */
export function loggedSubject(subject: string): string {
  return subject.length > MAX_SUBJECT_LENGTH ? subject.slice(0, MAX_SUBJECT_LENGTH) : subject;
}

/** Encodes a string as JSON. Most paths need no escapes. */
function quoted(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
}

const PLAIN = /^[\w/.~!$&'()*+,;=:@%-]*$/;

/** Members of the line whose values may need escapes. */
function further(members: Record<string, string | undefined>): string {
  let line = '';
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) line += `,"${name}":${quoted(value)}`;
  }
  return line;
}

/**
 * The code of a request that is summed up with others if there are many: one of a caller that nobody knows, or that may not do
 * what it asks for. Undefined for any other, also for a read that ended with its token.
 */
function refusalOf({ status, context }: EndedRequest): string | undefined {
  const isRefused = status === 403 || (status === 401 && context.credential === undefined);
  return isRefused ? context.errorCode : undefined;
}
