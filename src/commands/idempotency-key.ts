/** Visible ASCII and inner spaces. Node removes spaces around the value of a header (RFC 9110 §5.5). */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/;
/** What an idempotency key must be, after its name. */
export const IDEMPOTENCY_KEY_RULE =
  'must be 1 to 1,024 characters of visible ASCII and inner spaces';
