/** The valid forms of the parts of an address. */
export const ADDRESS_PATTERNS = {
  type: /^[A-Za-z][A-Za-z0-9_.-]{0,62}$/,
  // Nanoids and ids in base64url begin with _ or - now and then.
  id: /^[A-Za-z0-9_-][A-Za-z0-9._~:@-]{0,127}$/,
  tenant: /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/,
};

/** Paths of Restate itself. A service with such a name could not be called through its ingress. */
export const RESERVED_TYPES: ReadonlySet<string> = new Set(['restate', 'openapi']);
