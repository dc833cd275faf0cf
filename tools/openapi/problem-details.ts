import { CONTROL_VERBS } from '../../src/commands/command-verb.ts';
import type { ErrorCode } from '../../src/platform/errors/error-codes.ts';
import type { FieldError } from '../../src/platform/errors/gateway-error.ts';

interface ProblemDetail {
  detail: string;
  errors?: FieldError[];
  isUnsent?: boolean;
}

/** An example of `detail` for each code. */
export const PROBLEM_DETAILS: Record<ErrorCode, ProblemDetail> = {
  invalid_body: {
    detail: 'The body is not valid: "colour" is not a known field.',
    errors: [{ field: 'colour', message: 'is not a known field' }],
  },
  unexpected_body: {
    detail:
      'A GET request must have no body; send it without Content-Length and Transfer-Encoding.',
  },
  invalid_entity_type: {
    detail:
      'The entity type must not be "restate" or "openapi", which the runtime keeps for itself.',
  },
  invalid_entity_id: {
    detail:
      'The entity id must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ : @ -, the first a letter, a digit, _ or -.',
  },
  unknown_verb: {
    detail: `The body is not valid: "verb" must be one of ${CONTROL_VERBS.join(', ')}.`,
    errors: [{ field: 'verb', message: `must be one of ${CONTROL_VERBS.join(', ')}` }],
  },
  invalid_idempotency_key: {
    detail:
      'Idempotency-Key must be 1 to 1,024 characters of visible ASCII and inner spaces, given once.',
  },
  malformed_path: {
    detail: 'The path holds a dot segment ("." or ".."); send it in its plain, normalized form.',
  },
  duplicate_parameter: { detail: 'Give the parameter "table" once only.' },
  unknown_parameter: {
    detail:
      'The parameter "queryable_columns" does not pass with a read token; the HTTP API document lists those that do.',
  },
  invalid_order_by: {
    detail:
      'Give "subset__order_by" as plain column names, each with ASC or DESC and NULLS FIRST or NULLS LAST at most.',
  },
  invalid_parameter: { detail: 'Give "subset__limit" as a number of 1 to 9 digits.' },
  invalid_where: {
    detail:
      'The clause in "where" may only compare columns with constants, and holds something else at character 8.',
  },
  runtime_rejected: {
    detail: 'The runtime rejected the command: the arguments do not fit the schema.',
  },
  missing_credentials: { detail: 'Send the header "Authorization: Bearer <credential>".' },
  invalid_credentials: {
    detail: 'This route needs an API key, and the credential is not one of them.',
  },
  token_expired: {
    detail: 'The read token has expired; get a new one and continue from the last offset.',
  },
  prefix_not_covered: {
    detail: 'No prefix of the read token covers this path; mint a token for it.',
  },
  scope_not_covered: {
    detail: 'The API key does not have the scope streams:write; use a key that has it.',
  },
  read_only_token: { detail: 'A read token opens GET and HEAD only; use an API key.' },
  table_not_allowed: {
    detail: 'The read token does not cover this table; name one in "table" that it covers.',
  },
  shape_not_covered: { detail: 'The read token pins "where"; request exactly what it pins.' },
  route_not_found: {
    detail:
      'There is no such route, or not with this method; the HTTP API document lists them all.',
  },
  tenant_not_served: { detail: 'This deployment serves the tenant "default" only.' },
  entity_type_not_registered: {
    detail:
      'The runtime knows no such entity type, or not this command of it; register its deployment first.',
  },
  body_too_large: { detail: 'The request body must not be over 1048576 bytes.' },
  rate_limited: {
    detail: 'Too many requests with this credential; wait as long as Retry-After says.',
  },
  head_too_large: {
    detail:
      'The request target and headers must not be over 32768 bytes together, and have 40112; send a shorter query or fewer headers.',
  },
  internal_error: {
    detail: 'The gateway failed to handle the request; its log has more under this request id.',
  },
  upstream_unreachable: {
    detail: 'The server behind this route could not be reached, so nothing was sent; try again.',
    isUnsent: true,
  },
  upstream_timeout: { detail: 'The server behind this route did not answer within 15000 ms.' },
  upstream_invalid_response: {
    detail: 'The server behind this route gave an answer that cannot be used.',
  },
  draining: { detail: 'This copy of the gateway is shutting down; try again.' },
  overloaded: { detail: 'The gateway has too many reads open; try again in a moment.' },
  keys_unavailable: {
    detail: 'The keys of read tokens are not available; try again.',
  },
};
