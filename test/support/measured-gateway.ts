import { choosePorts } from '../../local/stack/ports.ts';
import { parseExposition, sampleValue, type Family } from './exposition.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';
import { until } from './until.ts';

export interface MeasuredGateway extends TestGateway {
  /** What its management port tells just now. */
  metrics(): Promise<Family[]>;
  /** One value of it; undefined where there is no such series. */
  value(name: string, labels?: Record<string, string>): Promise<number | undefined>;
  /** Resolves when a value is what it is to be: what is counted at the end of a request is late. */
  until(name: string, labels: Record<string, string>, value: number): Promise<void>;
}

/** A gateway with a management port. */
export async function startMeasuredGateway(
  env: Record<string, string> = {},
): Promise<MeasuredGateway> {
  const { management } = await choosePorts({ management: 0 });
  const gateway = await startTestGateway({ ...env, GATEWAY_MANAGEMENT_PORT: String(management) });
  const metrics = async (): Promise<Family[]> => {
    const response = await fetch(`${gateway.managementUrl}/metrics`);
    return parseExposition(await response.text());
  };
  const value = async (name: string, labels?: Record<string, string>) =>
    sampleValue(await metrics(), name, labels);
  return {
    ...gateway,
    metrics,
    value,
    until: (name, labels, wanted) => {
      let seen: number | undefined;
      return until(
        () => `${name}${JSON.stringify(labels)} is ${wanted}, and not ${seen}`,
        async () => (seen = await value(name, labels)) === wanted,
      );
    },
  };
}
