import { HTTPParser, methods as METHODS } from 'node:_http_common';

const MAX_HEAD_BYTES = 65_536;
/** Node's parser calls it a tunnel: the bytes after this head are no longer HTTP. */
const IS_TUNNEL = 2;

/** The result of Node's built-in parser for some bytes. */
export interface ParsedRequests {
  /** Of each request whose head is there, in order. */
  methods: string[];
  /** How many of them have to be answered before the connection ends: all that are there to their end. */
  whole: number;
  /** The bytes are not the beginning of any request: the gateway has to end the connection. */
  isRefused: boolean;
}

/**
 * Tells which answers have to come: a connection that the gateway leaves open because a request is not finished is
 * told apart from one that hangs. Only this is left to Node's parser; what may reach an upstream is not.
 */
export function parseRequests(bytes: Buffer): ParsedRequests {
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.REQUEST, {}, MAX_HEAD_BYTES);
  const methods: string[] = [];
  let whole = 0;
  parser[HTTPParser.kOnHeadersComplete] = (
    _major: number,
    _minor: number,
    _headers: unknown,
    method: number,
  ) => {
    methods.push(METHODS[method] ?? '');
    return METHODS[method] === 'CONNECT' ? IS_TUNNEL : 0;
  };
  parser[HTTPParser.kOnMessageComplete] = () => void whole++;
  const result = parser.execute(bytes);
  parser.close();
  return { methods, whole, isRefused: typeof result !== 'number' };
}
