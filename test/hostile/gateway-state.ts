import { setTimeout as sleep } from 'node:timers/promises';
import { askHoldings, type Holdings } from '../soak/holdings.ts';
import { parseExposition, type Family } from '../support/exposition.ts';

/** The gateway releases everything within this time, on any machine. */
const PATIENCE_MS = 60_000;

/** The resources that a gateway holds for clients. All are 0 when no client is connected. */
export async function heldOf(managementUrl: string): Promise<Record<string, number>> {
  const held: Record<string, number> = {};
  for (const { name, samples } of await metricsOf(managementUrl)) {
    if (!GAUGES.includes(name)) continue;
    for (const { labels, value } of samples)
      held[[name, ...Object.values(labels)].join(' ')] = value;
  }
  return held;
}

const GAUGES = [
  'gateway_open_reads',
  'gateway_parked_reads',
  'gateway_open_reads_of_busiest_credential',
  'gateway_connections',
  'gateway_held_bytes',
  'http_server_active_requests',
];

export interface Budget {
  heldBytes: number;
  limitBytes: number;
}

export async function budgetOf(managementUrl: string): Promise<Budget> {
  const families = await metricsOf(managementUrl);
  const sum = (name: string): number =>
    families
      .find((family) => family.name === name)
      ?.samples.reduce((total, { value }) => total + value, 0) ?? NaN;
  return { heldBytes: sum('gateway_held_bytes'), limitBytes: sum('gateway_held_bytes_limit') };
}

/** Resolves with an empty list once `look` finds nothing, or with what it still finds after a long time. */
export async function untilNothing<T>(look: () => Promise<T[]>): Promise<T[]> {
  const giveUpAtMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found.length === 0 || performance.now() > giveUpAtMs) return found;
    await sleep(5);
  }
}

/** The kinds of resources of which a process has more than before, each with both numbers. */
export async function moreResources(probeSocket: string, before: Holdings): Promise<string[]> {
  const { resources } = await askHoldings(probeSocket);
  return Object.entries(resources)
    .filter(([kind, count]) => count > (before.resources[kind] ?? 0))
    .map(([kind, count]) => `${kind}: ${before.resources[kind] ?? 0} → ${count}`);
}

async function metricsOf(managementUrl: string): Promise<Family[]> {
  const response = await fetch(`${managementUrl}/metrics`, { headers: { connection: 'close' } });
  return parseExposition(await response.text());
}
