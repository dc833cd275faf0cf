import type { ErrorCode } from '../../src/platform/errors/error-codes.ts';
import type { Answer, Answers } from './answers.ts';
import type { Parameter, RequestBody } from './openapi.ts';

/** The description of a route, which a controller cannot express. */
export interface OperationPart {
  /** It must not change, because clients are generated with methods of this name. */
  operationId: string;
  summary: string;
  description: string;
  /** One of the paths of the route, where a protocol names it. */
  path?: string;
  /** Parameters in addition to those of the path. */
  parameters?: Parameter[];
  requestBody?: RequestBody;
  /** The response of the gateway's own routes. The controller declares its status. */
  success?: Answer;
  /** The upstream's responses of proxied routes by status, from its own documentation. */
  upstream?: Answers;
  /** The gateway's errors in addition to those of the kind of route. */
  problems: ErrorCode[];
  /** Whether a read token never opens the route, although the route checks it. */
  apiKeyOnly?: boolean;
  /** For a GET: the differences of HEAD, which the same route serves. */
  head?: Pick<OperationPart, 'operationId' | 'summary'> &
    Partial<Pick<OperationPart, 'parameters' | 'upstream'>>;
  /** For a GET of browsers: the operation id of its preflight. */
  preflightId?: string;
}

/** By the handler of the route, `Controller.method`. */
export type OperationParts = Record<string, OperationPart[]>;
