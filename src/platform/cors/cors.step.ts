import type { ServerResponse } from 'node:http';
import type { GatewayConfig } from '../config/gateway-config.ts';
import type { HeaderList } from '../http/header-list.ts';
import type { ClientRequest } from '../http/client-request.ts';
import { requestContext, setAnswerHeaders } from '../server/request-context.ts';
import { isReadMethod, isReadPath } from '../http/routes.ts';
import { hasBody } from '../server/request-body.ts';
import { dropBody } from '../server/unwanted-body.ts';
import type { Step } from '../server/request-way.ts';

const ALLOWED_METHODS = 'GET, HEAD';
const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'If-None-Match',
  'Last-Event-ID',
  'Cache-Control',
  'X-Request-Id',
  'traceparent',
  'tracestate',
].join(', ');
const EXPOSED_HEADERS = [
  'ETag',
  'Stream-Next-Offset',
  'Stream-Cursor',
  'Stream-Up-To-Date',
  'Stream-Closed',
  'Stream-SSE-Data-Encoding',
  'electric-handle',
  'electric-offset',
  'electric-schema',
  'electric-cursor',
  'electric-up-to-date',
  'electric-has-data',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
].join(', ');
/** Two hours is the longest time that Chromium caches a preflight response. */
const PREFLIGHT_MAX_AGE_SECONDS = '7200';

/**
 * CORS for GET and HEAD below `/streams` and `/shapes`, on every response, also on errors: without it a browser's
 * client sees a network error instead of a 401. No other route gets a CORS header. A preflight response for POST
 * would open POST, which is a safelisted method.
 */
export function corsStep(origins: GatewayConfig['corsOrigins']): Step {
  return (request, response) => {
    const context = requestContext(request);
    if (!isReadPath(context.path)) return true;
    if (origins !== '*') context.ownVary = 'Origin';
    const allowed = allowedOrigin(origins, request.headers.origin);
    if (request.method === 'OPTIONS') {
      setAnswerHeaders(response, context);
      answerPreflight(request, response, allowed);
      return false;
    }
    if (allowed !== undefined && isReadMethod(request.method)) {
      context.corsHeaders = allowed === '*' ? CORS_HEADERS_FOR_ALL : corsHeaders(allowed);
    }
    return true;
  };
}

function corsHeaders(allowed: string): HeaderList {
  return ['Access-Control-Allow-Origin', allowed, 'Access-Control-Expose-Headers', EXPOSED_HEADERS];
}

const CORS_HEADERS_FOR_ALL: Readonly<HeaderList> = corsHeaders('*');

/**
 * The value for `Access-Control-Allow-Origin`, or undefined. If any origin may read, it is sent even without an
 * `Origin`: a browser's cache could give a response to a request without one to a page that needs the header
 * (Fetch, "CORS protocol and HTTP caches").
 */
function allowedOrigin(
  origins: GatewayConfig['corsOrigins'],
  origin: string | undefined,
): string | undefined {
  if (origins === '*') return '*';
  return origin !== undefined && origins.includes(origin) ? origin : undefined;
}

/** A preflight needs no credential and no upstream (Fetch, "CORS-preflight fetch"). */
function answerPreflight(
  request: ClientRequest,
  response: ServerResponse,
  allowed: string | undefined,
): void {
  const method = request.headers['access-control-request-method'];
  if (allowed !== undefined && method !== undefined && isReadMethod(method)) {
    response.setHeader('Access-Control-Allow-Origin', allowed);
    response.setHeader('Access-Control-Allow-Methods', ALLOWED_METHODS);
    response.setHeader('Access-Control-Allow-Headers', ALLOWED_HEADERS);
    response.setHeader('Access-Control-Max-Age', PREFLIGHT_MAX_AGE_SECONDS);
  }
  if (hasBody(request)) dropBody(request, response);
  response.statusCode = 204;
  response.end();
}
