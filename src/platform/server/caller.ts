/** The maker of a request, as limits and rates count: one user is one caller, however many tokens it gets. */
export interface Caller {
  /** A digest of the subject, or of the credential where it has none. It is independent of the spelling, and never logged. */
  id: string;
  /** Whether it is the subject of read tokens. */
  isSubject: boolean;
}
