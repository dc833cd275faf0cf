/**
 * The table of all errors of the gateway: the stable code for programs, its HTTP status and its title.
 * `docs/http-api.md` repeats it, and a test compares the two.
 */
export const ERROR_CODES = {
  invalid_body: { status: 400, title: 'The request body is not valid' },
  unexpected_body: { status: 400, title: 'A GET or HEAD request has a body' },
  invalid_entity_type: { status: 400, title: 'The entity type is not valid' },
  invalid_entity_id: { status: 400, title: 'The entity id is not valid' },
  unknown_verb: { status: 400, title: 'The control verb is not known' },
  invalid_idempotency_key: { status: 400, title: 'The Idempotency-Key is not valid' },
  malformed_path: { status: 400, title: 'The request path is not acceptable' },
  duplicate_parameter: { status: 400, title: 'A query parameter is given more than once' },
  unknown_parameter: { status: 400, title: 'A query parameter does not pass with a read token' },
  invalid_order_by: { status: 400, title: 'The order of a subset is not plain columns' },
  invalid_parameter: { status: 400, title: 'A query parameter is not valid' },
  invalid_where: { status: 400, title: 'The where clause is not self-contained' },
  runtime_rejected: { status: 400, title: 'The runtime rejected the command' },
  missing_credentials: { status: 401, title: 'Credentials are missing' },
  invalid_credentials: { status: 401, title: 'Credentials are not valid' },
  token_expired: { status: 401, title: 'The read token has expired' },
  prefix_not_covered: { status: 403, title: 'The read token does not cover this path' },
  scope_not_covered: { status: 403, title: 'The API key does not cover this' },
  read_only_token: { status: 403, title: 'A read token cannot write' },
  table_not_allowed: { status: 403, title: 'The read token may not read this table' },
  shape_not_covered: { status: 403, title: 'The read token does not cover this shape' },
  route_not_found: { status: 404, title: 'There is no such route' },
  tenant_not_served: { status: 404, title: 'This deployment does not serve that tenant' },
  entity_type_not_registered: { status: 404, title: 'The entity type is not registered' },
  body_too_large: { status: 413, title: 'The request body is too large' },
  rate_limited: { status: 429, title: 'Too many requests' },
  head_too_large: { status: 431, title: 'The head of the request is too large' },
  internal_error: { status: 500, title: 'The gateway failed' },
  upstream_unreachable: { status: 502, title: 'An upstream could not be reached' },
  upstream_timeout: { status: 502, title: 'An upstream did not answer in time' },
  upstream_invalid_response: { status: 502, title: 'An upstream gave an unusable answer' },
  draining: { status: 503, title: 'This gateway is shutting down' },
  overloaded: { status: 503, title: 'The gateway is at its limit' },
  keys_unavailable: { status: 503, title: 'The token keys are not available' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;
