import type { ServerResponse } from 'node:http';
import type { HeaderList } from '../http/header-list.ts';
import { isReadMethod, type ClientRequest } from '../http/client-request.ts';
import { requestContext, setAnswerHeaders } from '../server/request-context.ts';
import { hasBody } from '../server/request-body.ts';
import { dropBody } from '../server/unwanted-body.ts';
import type { Step } from '../server/request-way.ts';

const ALLOWED_METHODS = 'GET, HEAD';
const ASKED_HEADERS = 'Access-Control-Request-Headers';
/** A list of field names (RFC 9110 §5.6.1, §5.6.2). */
const FIELD_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;
/** The longest list of them. */
const MAX_FIELD_NAMES_LENGTH = 2_048;
/** Two hours is the longest time that Chromium caches a preflight response. */
const PREFLIGHT_MAX_AGE_SECONDS = '7200';

/** Which pages may read what. */
export interface CorsRules {
  /** Exact origins, or `*` for all. */
  origins: '*' | readonly string[];
  /** Whether pages may read a path. */
  isOpen: (path: string) => boolean;
  /** The response headers that pages may read. */
  exposedHeaders: readonly string[];
}

/**
 * CORS for GET and HEAD of the paths that pages may read, on every response, also on errors: without it a browser's
 * client sees a network error instead of a 401. No other route gets a CORS header. A preflight response for POST
 * would open POST, which is a safelisted method.
 */
export function corsStep({ origins, isOpen, exposedHeaders }: CorsRules): Step {
  const exposed = exposedHeaders.join(', ');
  const corsHeaders = (allowed: string): HeaderList => [
    'Access-Control-Allow-Origin',
    allowed,
    'Access-Control-Expose-Headers',
    exposed,
  ];
  const headersForAll: Readonly<HeaderList> = corsHeaders('*');
  return (request, response) => {
    const context = requestContext(request);
    if (!isOpen(context.path)) return true;
    if (origins !== '*') context.ownVary = 'Origin';
    const allowed = allowedOrigin(origins, request.headers.origin);
    if (request.method === 'OPTIONS') {
      context.ownVary = origins === '*' ? ASKED_HEADERS : `Origin, ${ASKED_HEADERS}`;
      setAnswerHeaders(response, context);
      answerPreflight(request, response, allowed);
      return false;
    }
    if (allowed !== undefined && isReadMethod(request.method)) {
      context.corsHeaders = allowed === '*' ? headersForAll : corsHeaders(allowed);
    }
    return true;
  };
}

/**
 * The value for `Access-Control-Allow-Origin`, or undefined. If any origin may read, it is sent even without an
 * `Origin`: a browser's cache could give a response to a request without one to a page that needs the header
 * (Fetch, "CORS protocol and HTTP caches").
 */
function allowedOrigin(
  origins: CorsRules['origins'],
  origin: string | undefined,
): string | undefined {
  if (origins === '*') return '*';
  return origin !== undefined && origins.includes(origin) ? origin : undefined;
}

/**
 * A preflight needs no credential and no upstream (Fetch, "CORS-preflight fetch"). It allows whatever headers the page
 * asks for: libraries add their own, and few of them are sent on.
 */
function answerPreflight(
  request: ClientRequest,
  response: ServerResponse,
  allowed: string | undefined,
): void {
  const {
    'access-control-request-method': method = '',
    'access-control-request-headers': names = '',
  } = request.headers;
  if (allowed !== undefined && isReadMethod(method) && isAllowed(names)) {
    response.setHeader('Access-Control-Allow-Origin', allowed);
    response.setHeader('Access-Control-Allow-Methods', ALLOWED_METHODS);
    if (names !== '') response.setHeader('Access-Control-Allow-Headers', names);
    response.setHeader('Access-Control-Max-Age', PREFLIGHT_MAX_AGE_SECONDS);
  }
  if (hasBody(request)) dropBody(request, response);
  response.statusCode = 204;
  response.end();
}

function isAllowed(names: string): boolean {
  return names === '' || (names.length <= MAX_FIELD_NAMES_LENGTH && FIELD_NAMES.test(names));
}
