import { describe, expect, it } from '@jest/globals';
import { thrown } from '../../test/support/thrown.ts';
import { ConfigError } from './config-error.ts';
import type { GatewayConfig } from './gateway-config.ts';
import { loadConfig } from './load-config.ts';

const REQUIRED = { GATEWAY_API_KEYS: 'an-api-key-0123456789' };

describe.each([
  ['GATEWAY_RUNTIME_INGRESS_TOKEN', ({ runtime }: GatewayConfig) => runtime.ingressToken],
  ['GATEWAY_RUNTIME_ADMIN_TOKEN', ({ runtime }: GatewayConfig) => runtime.adminToken],
  ['GATEWAY_HISTORY_TOKEN', ({ history }: GatewayConfig) => history.token],
  ['GATEWAY_SYNC_SECRET', ({ sync }: GatewayConfig) => sync.secret],
])('the credential %s', (name, source) => {
  const fileName = `${name}_FILE`;
  const load = (text: string, env = {}): GatewayConfig =>
    loadConfig({ ...REQUIRED, [fileName]: '/run/credential', ...env }, () => text);

  it('comes from a file, which may end with a line end', () => {
    expect(source(load('credential\n'))).toMatchObject({
      setting: fileName,
      hasFile: true,
      entries: ['credential'],
    });
  });

  it('comes from its variable where no file is named', () => {
    const config = load('', { [fileName]: '', [name]: 'credential' });
    expect(source(config)).toMatchObject({
      setting: name,
      hasFile: false,
      entries: ['credential'],
    });
  });

  it('comes from one of the two', () => {
    expect(problemsOf(() => load('sesame', { [name]: 'sesame' }))).toEqual([
      `${fileName} must not be set beside ${name}: one of the two is sent`,
    ]);
  });

  it('is refused where its file is empty or has two lines', () => {
    expect(problemsOf(() => load(' \n'))).toEqual([
      `${fileName} must hold one credential, on one line`,
    ]);
    expect(problemsOf(() => load('sesame\nsesame\n'))).toEqual([
      `${fileName} must hold one credential, on one line`,
    ]);
  });

  it('is refused where its file cannot be read', () => {
    const env = { ...REQUIRED, [fileName]: '/no/such/file' };
    expect(problemsOf(() => loadConfig(env))).toEqual([
      `${fileName} must be a readable file (ENOENT)`,
    ]);
  });

  it('may have spaces only where it is no header', () => {
    const problems = problemsOf(() => load('open sesame'));
    expect(problems).toEqual(
      name === 'GATEWAY_SYNC_SECRET'
        ? []
        : [
            `${fileName} must be visible ASCII characters without spaces, as a bearer credential is`,
          ],
    );
  });
});

function problemsOf(load: () => unknown): string[] {
  return thrown(ConfigError, load)?.problems ?? [];
}
