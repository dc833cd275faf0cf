/** The part of Node's `node:_http_common` that is used. Node's types lack it. */
declare module 'node:_http_common' {
  /** The names of methods by their numbers. */
  export const methods: readonly string[];
  export class HTTPParser {
    static readonly REQUEST: number;
    static readonly RESPONSE: number;
    /** The indexes of a parser's callbacks. */
    static readonly kOnMessageBegin: number;
    static readonly kOnHeaders: number;
    static readonly kOnHeadersComplete: number;
    static readonly kOnBody: number;
    static readonly kOnMessageComplete: number;
    /** `resource` is the resource of async hooks. */
    initialize(type: number, resource: object, maxHeaderSize: number): void;
    /** The number of parsed bytes, or the error. */
    execute(bytes: Uint8Array): number | Error;
    /** The connection has ended. */
    finish(): Error | undefined;
    /** Frees its memory. Must not be called within a callback. */
    close(): void;
    [callback: number]: ((...args: never[]) => unknown) | undefined;
  }
}
