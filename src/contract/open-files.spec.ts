import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { memoryPlan } from './memory-plan.ts';
import { connectionsWithin, filesAtCaps, openFileLimit } from './open-files.ts';

const GIB = 1_073_741_824;

describe('the caps of a process with few files', () => {
  it.each([100, 200, 1_024, 4_096, 20_000, 65_536])('fit into %i files', (maxFiles) => {
    const plan = memoryPlan(64 * GIB, 32 * GIB, maxFiles);
    expect(filesAtCaps(plan)).toBeLessThanOrEqual(maxFiles);
    // No more than a few are left over.
    const onMore = { ...plan, maxConnections: plan.maxConnections + 2 };
    expect(filesAtCaps(onMore)).toBeGreaterThan(maxFiles - 4);
  });

  it('are at least one, and follow from the memory where files are many', () => {
    expect(connectionsWithin(10)).toBe(1);
    expect(memoryPlan(GIB, GIB / 2, 10)).toMatchObject({ maxConnections: 1, maxOpenReads: 1 });
    expect(memoryPlan(GIB, GIB / 2, 1_048_576)).toEqual(memoryPlan(GIB, GIB / 2));
  });
});

describe('openFileLimit', () => {
  it('is the soft limit, and none where the system tells none', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-files-'));
    const file = join(folder, 'limits');
    const limits = (soft: string): string =>
      `Max processes             7823                 7823                 processes \n` +
      `Max open files            ${soft.padEnd(21)}20000                files     \n`;
    try {
      await writeFile(file, limits('1024'));
      expect(openFileLimit(file)).toBe(1_024);
      await writeFile(file, limits('unlimited'));
      expect(openFileLimit(file)).toBe(Number.POSITIVE_INFINITY);
      expect(openFileLimit(join(folder, 'none'))).toBe(Number.POSITIVE_INFINITY);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
