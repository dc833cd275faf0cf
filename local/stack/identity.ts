import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** The key with which a Restate signs what it sends to agents. */
export interface Identity {
  /** The file of the private key, as Restate reads it (PKCS #8 in PEM). */
  readonly keyFile: string;
  /** The public key, as `identityKeys` of Restate's SDK names it. */
  readonly publicKey: string;
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** The identity whose private key that file has. It is made where there is none, for its owner only. */
export function openIdentity(keyFile: string): Identity {
  if (!existsSync(keyFile)) {
    const { privateKey } = generateKeyPairSync('ed25519');
    writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  }
  const { x = '' } = createPublicKey(readFileSync(keyFile)).export({ format: 'jwk' });
  return { keyFile, publicKey: `publickeyv1_${base58(Buffer.from(x, 'base64url'))}` };
}

function base58(bytes: Buffer): string {
  let digits = '';
  for (let rest = BigInt(`0x${bytes.toString('hex')}`); rest > 0n; rest /= 58n) {
    digits = BASE58[Number(rest % 58n)] + digits;
  }
  // Each zero byte at the start is a digit of its own.
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return BASE58[0]!.repeat(zeros) + digits;
}
