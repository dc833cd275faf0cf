import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Checks } from '../support/checks.ts';
import { TLS_IDENTITY } from '../support/tls-identity.ts';
import { frontConfiguration, withoutUser } from './front.ts';
import { runTool } from './tools.ts';

const FOLDER = join(import.meta.dirname, '../../deploy/haproxy');
const VALID = { code: 0, output: 'Configuration file is valid\n' };

export async function checkHaproxy(checks: Checks): Promise<void> {
  checks.section('HAProxy');
  await checks.check('finds no fault in the configuration, and nothing to warn of', async () => {
    const { file, remove } = await frontConfiguration();
    const said = runTool('haproxy', ['-c', '-f', file]);
    await remove();
    assert.deepEqual(said, VALID);
  });
  const folder = mkdtempSync(join(tmpdir(), 'gateway-haproxy-'));
  try {
    await checks.check('finds no fault in that of the load balancer', () => {
      const file = join(folder, 'balancer.cfg');
      writeFileSync(file, withoutUser(readFileSync(join(FOLDER, 'balancer.cfg'), 'utf8')));
      assert.deepEqual(runTool('haproxy', ['-c', '-f', file]), VALID);
    });
    await checks.check('gets a renewed certificate, for root alone, and never a wrong one', () => {
      const installed = join(folder, 'etc/haproxy');
      mkdirSync(installed, { recursive: true });
      const [chain, key] = [join(folder, 'chain'), join(folder, 'key')];
      const renew = (certificate: string) => {
        writeFileSync(chain, certificate);
        writeFileSync(key, TLS_IDENTITY.key);
        const script = join(FOLDER, 'renew-certificate.sh');
        return runTool('bash', [script, chain, key], { DESTDIR: folder });
      };
      assert.deepEqual(renew(TLS_IDENTITY.cert), { code: 0, output: '' });
      const taken = join(installed, 'gateway.pem');
      const right = readFileSync(taken, 'utf8');
      assert.equal(right, `${TLS_IDENTITY.cert}\n${TLS_IDENTITY.key}`);
      assert.equal(statSync(taken).mode & 0o777, 0o600);
      const { code, output } = renew('no certificate\n');
      assert.equal(code, 1);
      assert.match(output, /are no certificate and key that HAProxy takes; nothing was changed\n$/);
      assert.equal(readFileSync(taken, 'utf8'), right);
      assert.deepEqual(readdirSync(installed), ['gateway.pem']);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
