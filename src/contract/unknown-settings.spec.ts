import { describe, expect, it } from '@jest/globals';
import { Environment } from './environment.ts';
import { unknownSettings } from './unknown-settings.ts';

const namesOf = (env: Record<string, string>): string[] =>
  unknownSettings(env).map(({ name }) => name);

describe('unknownSettings', () => {
  // GATEWAY_CORS_ALLOWED_ORIGINS was ignored without a word, and every origin stayed allowed.
  it.each([
    ['GATEWAY_CORS_ALLOWED_ORIGINS', 'GATEWAY_CORS_ALLOW_ORIGINS'],
    ['GATEWAY_CORS_ORIGINS', 'GATEWAY_CORS_ALLOW_ORIGINS'],
    ['GATEWAY_APIKEYS', 'GATEWAY_API_KEYS'],
    ['GATEWAY_API_KEY_FILE', 'GATEWAY_API_KEYS_FILE'],
    ['GATEWAY_READ_TOKEN_SECRET', 'GATEWAY_READ_TOKEN_SECRETS'],
    ['GATEWAY_ADMIN_URL', 'GATEWAY_RUNTIME_ADMIN_URL'],
    ['GATEWAY_MANAGMENT_PORT', 'GATEWAY_MANAGEMENT_PORT'],
    ['GATEWAY_HISTORY_TOKN', 'GATEWAY_HISTORY_TOKEN'],
    ['GATEWAY_MAX_BODY', 'GATEWAY_MAX_BODY_BYTES'],
    ['GATEWAY_PORTS', 'GATEWAY_PORT'],
  ])('names the setting nearest to %s', (name, nearest) => {
    expect(unknownSettings({ [name]: 'sesame' })).toEqual([
      { name, message: `${name} is no setting and has no effect; the nearest one is ${nearest}` },
    ]);
  });

  it('leaves every setting alone, and what is empty or not of the gateway', () => {
    const settings = Object.keys(new Environment()).map((name) => [name, 'x']);
    expect(namesOf(Object.fromEntries(settings))).toEqual([]);
    expect(namesOf({ GATEWAY_NOTHING: '', AGENT_GATEWAY_URL: 'x', PORT: '1' })).toEqual([]);
  });

  it('leaves alone what the command line, agents and the Compose file read', () => {
    expect(namesOf({ GATEWAY_URL: 'x', GATEWAY_API_KEY: 'x', GATEWAY_LISTEN: 'x' })).toEqual([]);
  });

  it('leaves alone what Kubernetes sets for Services named gateway and gateway-management', () => {
    const ofService = (prefix: string, port: number) => ({
      [`${prefix}_SERVICE_HOST`]: '10.0.0.1',
      [`${prefix}_SERVICE_PORT`]: String(port),
      [`${prefix}_SERVICE_PORT_HTTP`]: String(port),
      [`${prefix}_SERVICE_PORT_HTTP_ALT`]: String(port),
      [`${prefix}_PORT`]: `tcp://10.0.0.1:${port}`,
      ...Object.fromEntries(
        ['TCP', 'UDP'].flatMap((protocol) => [
          [`${prefix}_PORT_${port}_${protocol}`, `${protocol.toLowerCase()}://10.0.0.1:${port}`],
          [`${prefix}_PORT_${port}_${protocol}_PROTO`, protocol.toLowerCase()],
          [`${prefix}_PORT_${port}_${protocol}_PORT`, String(port)],
          [`${prefix}_PORT_${port}_${protocol}_ADDR`, '10.0.0.1'],
        ]),
      ),
    });
    const variables = {
      ...ofService('GATEWAY', 8787),
      ...ofService('GATEWAY_MANAGEMENT', 8788),
      ...ofService('GATEWAY_CONSOLE', 80),
    };
    expect(Object.keys(variables)).toHaveLength(39);
    expect(namesOf(variables)).toEqual([]);
    // A number in the like place is somebody's slip.
    expect(namesOf({ GATEWAY_CONSOLE_PORT: '80', GATEWAY_PORT_8787: '1' })).toEqual([
      'GATEWAY_CONSOLE_PORT',
      'GATEWAY_PORT_8787',
    ]);
  });
});
