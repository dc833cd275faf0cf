import { describe, expect, it } from '@jest/globals';
import { thrown } from '../../../test/support/thrown.ts';
import { loggedError } from './logged-error.ts';

describe('loggedError', () => {
  it('holds what an error says, its code and where it comes from', () => {
    const error = Object.assign(new TypeError('no such thing'), { code: 'ENOTHING' });
    expect(loggedError(error)).toEqual({
      type: 'TypeError',
      message: 'no such thing',
      code: 'ENOTHING',
      stack: error.stack,
    });
  });

  // Node's parser puts the bytes that it could not parse into `rawPacket`, jose the claims into `payload`.
  it('holds nothing else of an error', () => {
    const error = Object.assign(new Error('Parse Error'), {
      code: 12,
      rawPacket: Buffer.from('secret'),
      payload: { sub: 'secret' },
    });
    expect(Object.keys(loggedError(error))).toEqual(['type', 'message', 'stack']);
  });

  it('holds the causes, and the errors of an AggregateError', () => {
    const failures = [new Error('by IPv4'), new Error('by IPv6')];
    const error = new Error('outer', { cause: new AggregateError(failures, 'all failed') });
    expect(loggedError(error)).toMatchObject({
      message: 'outer',
      cause: {
        type: 'AggregateError',
        message: 'all failed',
        errors: [{ message: 'by IPv4' }, { message: 'by IPv6' }],
      },
    });
  });

  it('comes to an end with an error that is its own cause', () => {
    const error = new Error('round');
    error.cause = error;
    expect(JSON.stringify(loggedError(error)).match(/"message":"round"/g)).toHaveLength(6);
  });

  // JSON.parse quotes the text that it refuses: a key file with a slip in it stood in the log.
  it('does not quote the text that a SyntaxError is about', () => {
    const error = thrown(SyntaxError, () => JSON.parse('a secret'));
    expect(error?.message).toMatch(/secret/);
    expect(loggedError(error)).toEqual({
      type: 'SyntaxError',
      message: 'the text cannot be parsed',
      stack: expect.stringMatching(/^SyntaxError: the text cannot be parsed\n {4}at JSON\.parse/),
    });
  });

  it('does not show a thrown value that is no error', () => {
    expect(loggedError('secret')).toEqual({ type: 'string', message: 'not an Error' });
    expect(loggedError({ secret: 1 })).toEqual({ type: 'object', message: 'not an Error' });
  });
});
