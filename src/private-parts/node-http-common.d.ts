/** What of Node's `node:_http_common` is used, which Node's types leave out. */
declare module 'node:_http_common' {
  /** Names by their numbers. */
  export const methods: readonly string[];
  export class HTTPParser {
    static readonly REQUEST: number;
    static readonly RESPONSE: number;
    /** Indexes under which a parser has its callbacks. */
    static readonly kOnMessageBegin: number;
    static readonly kOnHeaders: number;
    static readonly kOnHeadersComplete: number;
    static readonly kOnBody: number;
    static readonly kOnMessageComplete: number;
    /** `resource` is the resource of async hooks. */
    initialize(type: number, resource: object, maxHeaderSize: number): void;
    /** How many bytes were parsed, or why they could not be. */
    execute(bytes: Uint8Array): number | Error;
    /** The connection has ended. */
    finish(): Error | undefined;
    /** Gives its memory back; not from within a callback. */
    close(): void;
    [callback: number]: ((...args: never[]) => unknown) | undefined;
  }
}
