import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { thrown } from '../../test/support/thrown.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { bearerCredential } from './bearer.ts';

/** What node hands over: it keeps the first of several `Authorization` headers. */
function requestWith(...values: string[]): IncomingMessage {
  const rawHeaders = values.flatMap((value) => ['Authorization', value]);
  return { headers: { authorization: values[0] }, rawHeaders } as unknown as IncomingMessage;
}

function refusalOf(...values: string[]): object {
  const error = thrown(GatewayError, () => bearerCredential(requestWith(...values)));
  return { code: error?.code, challenge: error?.headers['WWW-Authenticate'] };
}

describe('bearerCredential', () => {
  it.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER abc', 'abc'],
    ['Bearer   abc', 'abc'],
    ['Bearer abc ', 'abc'],
    ['Bearer a~b+c/d=', 'a~b+c/d='],
    ['Bearer Bearer', 'Bearer'],
  ])('reads %j', (header, credential) => {
    expect(bearerCredential(requestWith(header))).toBe(credential);
  });

  it.each([[[]], [['']], [['Bearer']], [['Bearer ']], [['bearer  ']]])(
    'says of %j that no credential was sent',
    (headers) => {
      expect(refusalOf(...headers)).toEqual({ code: 'missing_credentials', challenge: 'Bearer' });
    },
  );

  it.each([
    [['Basic YTpi']],
    [['Bearerabc']],
    [['Bearer\tabc']],
    [['Bearer a b']],
    [['Bearer a, Bearer b']],
    [['Bearer é']],
    [['abc']],
    [['Token abc']],
    // One server would read the first of two and another the last.
    [['Bearer abc', 'Bearer abc']],
    [['Bearer abc', '']],
  ])('refuses %j', (headers) => {
    expect(refusalOf(...headers)).toEqual({
      code: 'invalid_credentials',
      challenge: 'Bearer error="invalid_token"',
    });
  });
});
