import type { Logger } from 'pino';
import { HEALTH_ROUTE } from '../http/routes.ts';
import { infoLines } from '../log/create-logger.ts';
import type { InfoLines } from '../log/info-lines.ts';
import type { EndedRequest, RequestObserver } from './request-observer.ts';
import { ProbeSampling } from './probe-sampling.ts';

const PROBE_LINE_INTERVAL_MS = 60_000;
const MAX_SUBJECT_LENGTH = 64;

/**
 * Writes one line per request when it ends. The line contains no query, headers or body, so that no credential can
 * leak. A long path is cut. Of successful probes one per minute is written, and all of them at level debug.
 */
export class RequestLog implements RequestObserver {
  private readonly logger: Logger;
  private readonly lines: InfoLines;
  private readonly probes = new ProbeSampling(PROBE_LINE_INTERVAL_MS);

  /** `bindings` are additional members of each line. */
  constructor(logger: Logger, bindings: Record<string, string> = {}) {
    this.logger = logger;
    this.lines = infoLines(logger, bindings);
  }

  ended(request: EndedRequest): void {
    if (!this.lines.isOn) return;
    const isSampled = isGoodProbe(request) && !this.logger.isLevelEnabled('debug');
    const leftOut = isSampled ? this.probes.take() : 0;
    if (leftOut !== undefined) this.write(request, leftOut);
  }

  private write(
    { method, status, isWhole, durationMs, context }: EndedRequest,
    leftOut: number,
  ): void {
    const { route, upstream, requestId, traceId, errorCode, errorReason, credential, subject } =
      context;
    const tenths = Math.round(durationMs * 10);
    this.lines.write(
      // The method of bytes that are not a request is unknown.
      text(',"method":"', method || undefined) +
        text(',"route":"', route) +
        `,"path":${quoted(context.loggedPath)}` +
        `,"status":${status},"durationMs":${Math.trunc(tenths / 10)}.${tenths % 10}` +
        text(',"credential":"', credential) +
        (subject === undefined ? '' : `,"sub":${quoted(loggedSubject(subject))}`) +
        text(',"upstream":"', upstream) +
        text(',"requestId":"', requestId) +
        text(',"traceId":"', traceId) +
        text(',"code":"', errorCode) +
        text(',"reason":"', errorReason) +
        (isWhole ? '' : ',"broken":true') +
        (leftOut > 0 ? `,"leftOut":${leftOut}` : ''),
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

function isGoodProbe({ status, isWhole, context }: EndedRequest): boolean {
  return context.route === HEALTH_ROUTE && status === 200 && isWhole;
}
