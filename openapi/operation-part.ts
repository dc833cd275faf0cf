import type { ErrorCode } from '../src/errors/error-codes.ts';
import type { Answer, Answers } from './answers.ts';
import type { Parameter, RequestBody } from './openapi.ts';

/** What a controller cannot say of one of its routes. */
export interface OperationPart {
  /** Stable: clients are generated with methods of this name. */
  operationId: string;
  summary: string;
  description: string;
  /** One of the many paths that the route stands for, where a protocol names it. */
  path?: string;
  /** Beside those of the path. */
  parameters?: Parameter[];
  requestBody?: RequestBody;
  /** On a route of the gateway's own; its status is the one that the controller declares. */
  success?: Answer;
  /** On a proxied route, by status: what the upstream's own documents say. */
  upstream?: Answers;
  /** The gateway's own errors beside those that its kind of route brings. */
  problems: ErrorCode[];
  /** A read token is of no use here, though the route judges it. */
  apiKeyOnly?: boolean;
  /** Of a GET: what HEAD, which its route stands for too, has of its own. */
  head?: Pick<OperationPart, 'operationId' | 'summary'> &
    Partial<Pick<OperationPart, 'parameters' | 'upstream'>>;
  /** Of a GET that browsers may send: the name of its preflight. */
  preflightId?: string;
}

/** By the handler of the route, `Controller.method`. */
export type OperationParts = Record<string, OperationPart[]>;
