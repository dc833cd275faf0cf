import { ERROR_CODES, type ErrorCode } from '../../src/platform/errors/error-codes.ts';
import { GatewayError } from '../../src/platform/errors/gateway-error.ts';
import { PROBLEM_CONTENT_TYPE, problemBody } from '../../src/platform/errors/problem.ts';
import type { Answer } from './answers.ts';
import type { HeaderName } from './headers.ts';
import type { Example, Schema } from './openapi.ts';
import { PROBLEM_DETAILS } from './problem-details.ts';

const CODES = Object.keys(ERROR_CODES) as ErrorCode[];

/** The additional headers and fields of errors with a status. */
const HEADERS_OF_STATUS: Record<number, HeaderName[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

export const PROBLEM_SCHEMA: Schema = {
  type: 'object',
  description: "An error of the gateway's own (RFC 9457). Switch on `code`: it is stable.",
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
  properties: {
    type: {
      type: 'string',
      format: 'uri',
      pattern: '^urn:agent-gateway:error:[a-z_]+$',
      description: 'The code as a URN.',
    },
    title: { type: 'string', description: 'What the code means, in one phrase.' },
    status: { type: 'integer', enum: [...new Set(Object.values(ERROR_CODES).map(statusOf))] },
    detail: { type: 'string', description: 'What was wrong, and what to send instead.' },
    code: { type: 'string', enum: CODES },
    requestId: { type: 'string', description: 'Give it when you ask for help: logs have it.' },
    sent: {
      type: 'boolean',
      const: false,
      description:
        'There where an upstream was tried and nothing of the request reached it: it can be repeated safely.',
    },
    errors: {
      type: 'array',
      description: 'The wrong fields of a body, one by one.',
      items: {
        type: 'object',
        required: ['field', 'message'],
        properties: { field: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
};

/** The responses with the gateway's errors, by status. `sometimes` are further headers of some. */
export function problemAnswers(
  codes: readonly ErrorCode[],
  sometimes: Record<number, HeaderName[]> = {},
): Record<string, Answer> {
  const statuses = new Set(codes.map((code) => ERROR_CODES[code].status));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const ofStatus = CODES.filter(
        (code) => codes.includes(code) && ERROR_CODES[code].status === status,
      );
      const answer = problemAnswer(status, ofStatus);
      const further = sometimes[status];
      return [String(status), further ? { ...answer, sometimes: further } : answer];
    }),
  );
}

function problemAnswer(status: number, codes: readonly ErrorCode[]): Answer {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].title}.`).join(' '),
    always: ['X-Request-Id', 'Cache-Control', ...(HEADERS_OF_STATUS[status] ?? [])],
    content: {
      [PROBLEM_CONTENT_TYPE]: {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Problem' },
            { properties: { status: { const: status }, code: { enum: codes } } },
          ],
        },
        examples: Object.fromEntries(
          codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
        ),
      },
    },
  };
}

/** An example body for each code. */
export function problemExamples(): Record<string, Example> {
  return Object.fromEntries(
    CODES.map((code) => {
      const { detail, ...extensions } = PROBLEM_DETAILS[code];
      const error = new GatewayError(code, detail, extensions);
      const body = problemBody(error, '01jd3x5m9q8r7s6t5v4w3x2y1z');
      return [code, { summary: ERROR_CODES[code].title, value: JSON.parse(body) as unknown }];
    }),
  );
}

function statusOf({ status }: { status: number }): number {
  return status;
}
