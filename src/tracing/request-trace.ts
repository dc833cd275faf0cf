/** What the rest of the gateway knows of the spans of a request. */
export interface RequestTrace {
  /** 32 hex digits. */
  readonly traceId: string;
}
