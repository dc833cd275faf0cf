import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { credentialDigest } from './bearer.ts';
import { sentCredential } from './sent-credential.ts';

function requestOn(socket: object, authorization: string): IncomingMessage {
  const headers = { authorization };
  return { headers, rawHeaders: ['Authorization', authorization], socket } as never;
}

describe('sentCredential', () => {
  it('takes one digest for equal credentials in a row on a connection', () => {
    const socket = {};
    const first = sentCredential(requestOn(socket, 'Bearer first-credential'));
    expect(first.digest).toEqual(credentialDigest('first-credential'));
    expect(first.id).toBe(first.digest.toString('base64'));
    expect(sentCredential(requestOn(socket, 'bearer   first-credential'))).toBe(first);
    expect(sentCredential(requestOn({}, 'Bearer first-credential'))).not.toBe(first);
  });

  // A proxy sends the requests of several clients on one connection.
  it.each([
    ['first-credentiaL', 'last letter'],
    ['First-credential', 'first letter'],
    ['first-credentia', 'length'],
    ['first-credential1', 'length'],
  ])('tells %j from the one before by its %s', (other) => {
    const socket = {};
    sentCredential(requestOn(socket, 'Bearer first-credential'));
    const sent = sentCredential(requestOn(socket, `Bearer ${other}`));
    expect([sent.credential, sent.digest]).toEqual([other, credentialDigest(other)]);
    expect(sentCredential(requestOn(socket, 'Bearer first-credential')).credential).toBe(
      'first-credential',
    );
  });

  // Each of thousands of idle connections would hold the largest header that there may be.
  it.each(['c'.repeat(1_100), `${' '.repeat(1_100)}a-short-credential`])(
    'keeps nothing of a long header',
    (value) => {
      const socket = {};
      const first = sentCredential(requestOn(socket, `Bearer ${value}`));
      expect(sentCredential(requestOn(socket, `Bearer ${value}`))).not.toBe(first);
    },
  );

  it('throws for a request without a credential, whatever the one before had', () => {
    const socket = {};
    sentCredential(requestOn(socket, 'Bearer first-credential'));
    expect(() => sentCredential(requestOn(socket, ''))).toThrow('Send the header');
  });
});
