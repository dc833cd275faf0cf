import { describe, expect, it } from '@jest/globals';
import { environmentOfPart, settingsFromOutside } from './environment.ts';

const outside = {
  PATH: '/bin',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector',
  GATEWAY_HOST: '0.0.0.0',
  GATEWAY_PORT: '1',
  GATEWAY_TENANT: 'of-another-gateway',
};

describe('the environment of the local system', () => {
  it('gives a part what is no setting of a gateway', () => {
    expect(environmentOfPart(outside)).toEqual({
      PATH: '/bin',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector',
    });
  });

  it('has two settings of the gateway from outside, and no other', () => {
    expect(settingsFromOutside(outside)).toEqual({
      GATEWAY_HOST: '0.0.0.0',
      GATEWAY_DRAIN_TIMEOUT_MS: '2000',
    });
  });
});
