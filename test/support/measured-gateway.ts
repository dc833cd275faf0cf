import { choosePorts } from '../../local/stack/ports.ts';
import { parseExposition, sampleValue, type Family } from './exposition.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';
import { until } from './until.ts';

type Labels = Record<string, string>;

/** What a management port tells. */
export interface Measures {
  metrics(): Promise<Family[]>;
  /** One value; undefined where there is no such series. */
  value(name: string, labels?: Labels): Promise<number | undefined>;
  /** Resolves when a value is what it is to be: what is counted at the end of a request is late. */
  until(name: string, labels: Labels, wanted: number | ((value: number) => boolean)): Promise<void>;
}

export interface MeasuredGateway extends TestGateway, Measures {}

/** A gateway with a management port. */
export async function startMeasuredGateway(env: Labels = {}): Promise<MeasuredGateway> {
  const { management } = await choosePorts({ management: 0 });
  const gateway = await startTestGateway({ ...env, GATEWAY_MANAGEMENT_PORT: String(management) });
  return { ...gateway, ...measuresAt(`http://127.0.0.1:${management}`) };
}

export function measuresAt(managementUrl: string): Measures {
  const metrics = async (): Promise<Family[]> => {
    const response = await fetch(`${managementUrl}/metrics`);
    return parseExposition(await response.text());
  };
  const value = async (name: string, labels?: Labels) => sampleValue(await metrics(), name, labels);
  return {
    metrics,
    value,
    until: (name, labels, wanted) => {
      let seen: number | undefined;
      const isWanted = typeof wanted === 'number' ? (one: number) => one === wanted : wanted;
      return until(
        () => `${name}${JSON.stringify(labels)} is no longer ${seen}, but ${String(wanted)}`,
        async () => {
          seen = await value(name, labels);
          return seen !== undefined && isWanted(seen);
        },
      );
    },
  };
}
