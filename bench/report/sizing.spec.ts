import { describe, expect, it } from '@jest/globals';
import type { Spread } from '../measure/statistics.ts';
import type { Measurements } from '../results.ts';
import { coreDelivers, sizing } from './sizing.ts';

const of = (median: number): Spread => ({ median, min: median, max: median });
const MIB = 1_048_576;

const row = (id: string, readers: number, contenderCpuUs: number) => ({
  id,
  label: id,
  readers,
  live: 'long-poll' as const,
  p50Ms: of(1),
  p99Ms: of(1),
  storeRequestsToPark: of(1),
  storeRequestsPerEvent: of(1),
  contenderCpuUs: of(contenderCpuUs),
  storeCpuUs: of(1_000),
});

const parked = (readers: number, bytesPerReader: number) => ({
  label: '',
  readers,
  bytes: { atStart: 112 * MIB, parked: 0, afterEvents: 112 * MIB + readers * bytesPerReader },
  kernelBytes: 40 * MIB,
});

const parkedReaders = { shared: parked(10_000, 10 * 1024), own: parked(8_000, 100 * 1024) };

const measured: Partial<Measurements> = {
  'fan-out': {
    rows: [
      row('gateway', 1_000, 999),
      row('gateway', 10_000, 35),
      row('gateway-unshared', 1_000, 140),
    ],
    missing: [],
  },
  memory: {
    ...parkedReaders,
    bare: parkedReaders,
    duties: parkedReaders,
    largeYoung: parkedReaders,
    steps: [],
  },
};

/** The columns of the table's rows, without their padding. */
const cells = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => /^\| (one|1|\d+ a)/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

describe('what a core delivers', () => {
  it('follows from what one delivery costs', () => {
    const rows = [
      row('gateway', 10_000, 35),
      { ...row('gateway', 5_000, 14), live: 'sse' as const },
    ];
    // 700,000 µs a second are 20,000 deliveries of 35 µs and 50,000 of 14 µs.
    const text = coreDelivers({ ...measured, 'fan-out': { rows, missing: [] } });
    expect(text?.match(/[\d,]{6}/g)).toEqual(['20,000', '50,000']);
  });

  it('is left out where event streams were not measured', () => {
    expect(coreDelivers(measured)).toBeUndefined();
  });
});

describe('sizing', () => {
  it('lets the scarcest of processor, memory and open reads decide', () => {
    // 400 MiB are left of 512: 40,960 readers of 10 KiB, 4,096 of 100 KiB; 4,718 may be open. 70 % of a
    // core are 700,000 µs a second: 20,000 deliveries of 35 µs, 5,000 of 140 µs.
    expect(cells(sizing(measured) ?? '')).toEqual([
      ['one in 10 s', '4,718', '4,096'],
      ['1 a second', '4,718', '4,096'],
      ['10 a second', '2,000', '500'],
    ]);
  });

  it('says nothing where a part of it was not measured', () => {
    expect(sizing({ ...measured, memory: undefined })).toBeUndefined();
    expect(sizing({ ...measured, 'fan-out': { rows: [], missing: [] } })).toBeUndefined();
  });
});
