import { describe, expect, it } from '@jest/globals';
import { gatewayEnvironment } from './gateway-environment.ts';

describe('the environment of the local gateway', () => {
  it('has two settings from outside, and no other', () => {
    const outside = {
      PATH: '/bin',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector',
      GATEWAY_HOST: '0.0.0.0',
      GATEWAY_PORT: '1',
      GATEWAY_TENANT: 'other',
      GATEWAY_READ_TOKEN_JWKS: 'https://elsewhere',
    };
    expect(gatewayEnvironment(outside, { GATEWAY_PORT: 2 })).toEqual({
      PATH: '/bin',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector',
      GATEWAY_HOST: '0.0.0.0',
      GATEWAY_DRAIN_TIMEOUT_MS: '2000',
      GATEWAY_PORT: 2,
    });
  });
});
