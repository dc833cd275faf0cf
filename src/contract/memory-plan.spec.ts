import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { memoryPlan } from './memory-plan.ts';

const MIB = 1_048_576;
const HALF = 0.5;
const PAGE = readFileSync(join(import.meta.dirname, '../../docs/security.md'), 'utf8');

/** The rows of the table of caps: memory in MiB, open reads, connections, held MiB. */
const ROWS = [
  ...PAGE.matchAll(/^\| (\d+) (MiB|GiB) +\| ([\d,]+) +\| ([\d,]+) +\| (\d+) MiB +\|$/gm),
];
const number = (text = ''): number => Number(text.replaceAll(',', ''));

describe('memoryPlan', () => {
  it('gives the caps that docs/security.md has for common sizes', () => {
    expect(ROWS.length).toBeGreaterThanOrEqual(5);
    for (const [line, size, unit, reads, connections, heldMib] of ROWS) {
      const limitBytes = number(size) * (unit === 'GiB' ? 1_024 : 1) * MIB;
      const plan = memoryPlan(limitBytes, limitBytes * HALF);
      expect([line, plan.maxOpenReads, plan.maxConnections]).toEqual([
        line,
        number(reads),
        number(connections),
      ]);
      expect(Math.floor(plan.maxHeldBytes / MIB)).toBe(number(heldMib));
    }
  });

  it('takes fewer reads where the heap is small beside the memory', () => {
    const roomy = memoryPlan(1_024 * MIB, 512 * MIB);
    const tight = memoryPlan(1_024 * MIB, 128 * MIB);
    expect(tight.maxOpenReads).toBeLessThan(roomy.maxOpenReads);
    expect(tight.maxOpenReads).toBe(3_276);
  });

  it('serves somebody in whatever little memory, and not more than one process can', () => {
    expect(memoryPlan(64 * MIB, 32 * MIB)).toEqual({
      maxOpenReads: 100,
      maxConnections: 125,
      maxHeldBytes: 8 * MIB,
    });
    expect(memoryPlan(1_024 * 1_024 * MIB, 1_024 * MIB).maxOpenReads).toBeLessThanOrEqual(40_000);
  });
});
