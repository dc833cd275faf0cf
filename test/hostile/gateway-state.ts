import { expect } from '@jest/globals';
import { parseExposition } from '../support/exposition.ts';
import type { GatewayChild } from '../support/gateway-child.ts';
import { until } from '../support/until.ts';
import type { RecordingUpstream } from './recording-upstream.ts';

/** The resources that a gateway holds for clients. All are 0 when no client is connected. */
const GAUGES = [
  'gateway_open_reads',
  'gateway_parked_reads',
  'gateway_open_reads_of_busiest_credential',
  'gateway_open_reads_of_busiest_subject',
  'gateway_connections',
  'gateway_held_bytes',
  'http_server_active_requests',
];

async function heldBy({ managementUrl }: GatewayChild): Promise<string[]> {
  const response = await fetch(`${managementUrl}/metrics`, { headers: { connection: 'close' } });
  const families = parseExposition(await response.text());
  return families
    .filter(({ name }) => GAUGES.includes(name))
    .flatMap(({ name, samples }) => samples.map((sample) => ({ ...sample, name })))
    .filter(({ value }) => value !== 0)
    .map(({ name, labels, value }) => [name, ...Object.values(labels), value].join(' '));
}

/** Alive, with nothing left of its clients and of their requests, and without an error of its own in the log. */
export async function expectAtRest(
  gateway: GatewayChild,
  upstream: RecordingUpstream,
): Promise<void> {
  let left: string[] = [];
  await until(
    () => `what is left is gone: ${left.join()}`,
    async () => {
      const abandoned = upstream.abandoned().map(({ method, target }) => `${method} ${target}`);
      left = [...(await heldBy(gateway)), ...abandoned];
      return left.length === 0;
    },
  );
  const errors = gateway.log.filter(
    ({ level, code }) => level === 'error' || level === 'fatal' || code === 'internal_error',
  );
  expect(errors).toEqual([]);
}
