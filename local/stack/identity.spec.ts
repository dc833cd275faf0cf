import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createEndpointHandler } from '@restatedev/restate-sdk';
import { forAllTests } from '../../test/support/for-this-test.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { openIdentity } from './identity.ts';

describe('openIdentity', () => {
  const folder = forAllTests(newFolder);

  it('makes a key for its owner only, and finds it again', () => {
    const keyFile = join(folder.path, 'new.pem');
    const made = openIdentity(keyFile);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(openIdentity(keyFile)).toEqual(made);
  });

  it.each([false, true])(
    'names the public key as the SDK reads it (with a zero at its start: %j)',
    (hasZero) => {
      const keyFile = join(folder.path, `${hasZero}.pem`);
      const pem = keyWith((bytes) => (bytes[0] === 0) === hasZero);
      writeFileSync(keyFile, pem);
      const { publicKey } = openIdentity(keyFile);
      const raw = rawPublicKey(readFileSync(keyFile, 'utf8')).toString('hex');
      expect(fromBase58(publicKey.replace('publickeyv1_', ''))).toBe(raw);
      // It throws for a key that has not exactly 32 bytes.
      createEndpointHandler({ services: [], identityKeys: [publicKey], logger: () => {} });
    },
  );
});

function keyWith(fits: (publicKey: Buffer) => boolean): string {
  for (;;) {
    const { privateKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    if (fits(rawPublicKey(pem))) return pem;
  }
}

/** The last 32 bytes of its structure in DER (RFC 8410). */
function rawPublicKey(pem: string): Buffer {
  return createPublicKey(pem).export({ type: 'spki', format: 'der' }).subarray(-32);
}

/** As hexadecimal digits. */
function fromBase58(text: string): string {
  const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  const number = Array.from(text).reduce((sum, c) => sum * 58n + BigInt(digits.indexOf(c)), 0n);
  const zeros = /^1*/.exec(text)![0].length;
  return '00'.repeat(zeros) + (number === 0n ? '' : evenHex(number));
}

function evenHex(number: bigint): string {
  const hex = number.toString(16);
  return hex.length % 2 === 0 ? hex : `0${hex}`;
}
