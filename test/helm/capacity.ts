import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryPlan } from '../../src/contract/memory-plan.ts';
import type { Checks } from '../support/checks.ts';

const DOCS = join(import.meta.dirname, '../../docs');
const KIB = 1_024;
const MIB = 1_048_576;
const GIB = 1_073_741_824;
const CORE_SHARE = 0.7;
const READERS = [10_000, 50_000, 100_000, 1_000_000];
const RATES = new Map([
  ['one in 10 s', 0.1],
  ['1 a second', 1],
  ['10 a second', 10],
]);

/** Checks that the table of docs/sizing.md follows from the measurements of docs/performance.md and from the gateway's own caps. */
export async function checkCapacity(checks: Checks): Promise<void> {
  const measured = readFileSync(join(DOCS, 'performance.md'), 'utf8').replaceAll(/\s+/g, ' ');
  const rows = readFileSync(join(DOCS, 'sizing.md'), 'utf8').match(/^\| [\d.]+ GiB .*$/gm) ?? [];
  await checks.check('the pods of docs/sizing.md follow from docs/performance.md', () => {
    assert.equal(rows.length, 2 * RATES.size);
    for (const row of rows) {
      const [memory = '', rate = '', ...pods] = cellsOf(row);
      const bytes = Number.parseFloat(memory) * GIB;
      const perPod = readersPerPod(measured, bytes, RATES.get(rate) ?? Number.NaN);
      // One may fail, or be replaced.
      const needed = READERS.map((readers) => Math.ceil(readers / perPod) + 1);
      assert.deepEqual(pods.map(numberOf), needed, row);
    }
  });
}

/** Readers of one pod, each of its own timeline: within its memory, the gateway's cap and 70 % of a core. */
function readersPerPod(measured: string, bytes: number, eventsPerSecond: number): number {
  const [, kib] = /([\d.]+) KiB where each has its own/.exec(measured) ?? [];
  const [, us] = /([\d.]+) µs where each has its own/.exec(measured) ?? [];
  const [, mib] = /each on its own timeline \| agent gateway \| (\d+) MiB/.exec(measured) ?? [];
  const perReader = Number(kib) * KIB;
  const byMemory = (bytes - Number(mib) * MIB) / perReader;
  const byCpu = (CORE_SHARE * 1_000_000) / Number(us) / eventsPerSecond;
  return Math.floor(Math.min(byMemory, byCpu, memoryPlan(bytes, bytes / 2).maxOpenReads));
}

function cellsOf(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

function numberOf(text: string): number {
  return Number(text.replaceAll(',', ''));
}
