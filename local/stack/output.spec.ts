import { describe, expect, it } from '@jest/globals';
import { readableLogLine } from './output.ts';

describe('readableLogLine', () => {
  const request = {
    level: 'info',
    method: 'POST',
    route: '/api/spawn',
    path: '/api/spawn',
    status: 202,
    durationMs: 3.1,
    requestId: '01K',
    message: 'request',
  };
  it.each([
    ['a request', JSON.stringify(request), 'POST /api/spawn 202 3.1 ms'],
    [
      'a refused request',
      JSON.stringify({ ...request, status: 400, code: 'invalid_body' }),
      'POST /api/spawn 400 3.1 ms invalid_body',
    ],
    // Each change had a second line, "POST /api/spawn 202 undefined ms".
    [
      'nothing for the line of the audit log',
      JSON.stringify({ ...request, durationMs: undefined, outcome: 'done', message: 'audit' }),
      undefined,
    ],
    ['a note', '{"level":"info","message":"the gateway listens"}', 'the gateway listens'],
    [
      'an error',
      '{"level":"error","message":"no","stack":"at"}',
      '{"level":"error","message":"no","stack":"at"}',
    ],
    ['no JSON', 'Error: no', 'Error: no'],
  ])('gives %s', (_, line, readable) => {
    expect(readableLogLine(line)).toBe(readable);
  });
});
