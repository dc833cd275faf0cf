import { headerReferences } from './headers.ts';
import type { Operation, Parameter } from './openapi.ts';
import { standingParameters } from './parameters.ts';

const asked: Parameter[] = [
  {
    name: 'Origin',
    in: 'header',
    description: 'Of the page.',
    schema: { type: 'string' },
    example: 'https://app.example.com',
  },
  {
    name: 'Access-Control-Request-Method',
    in: 'header',
    description: 'What the page wants to send: only GET and HEAD are let.',
    schema: { type: 'string' },
    example: 'GET',
  },
  {
    name: 'Access-Control-Request-Headers',
    in: 'header',
    description:
      'The headers it wants to send: any field names, 2,048 bytes in all. With another text nothing is allowed.',
    schema: { type: 'string' },
    example: 'authorization',
  },
];

/** The preflight of a browser's read. No controller handles it. */
export function describePreflight(operationId: string, path: string, tag: string): Operation {
  return {
    operationId,
    summary: 'The preflight of a browser',
    description: 'Needs no credential and touches no upstream.',
    tags: [tag],
    security: [],
    parameters: [...standingParameters(path), ...asked],
    responses: {
      204: {
        description: 'With CORS headers where the origin and the method may read.',
        headers: headerReferences({
          always: ['X-Request-Id', 'Vary'],
          sometimes: [
            'Access-Control-Allow-Origin',
            'Access-Control-Allow-Methods',
            'Access-Control-Allow-Headers',
            'Access-Control-Max-Age',
          ],
        }),
      },
    },
  };
}
