import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Results } from './results.ts';
import { readResults, withParts, withRunBefore, writeResults } from './results-file.ts';

const FAILED = { median: Number.NaN, min: Number.NaN, max: Number.NaN };
const RESULTS: Results = {
  takenAt: '2026-01-02T03:04:05.678Z',
  tookSeconds: 1_234.567_89,
  commit: 'abc1234',
  machine: {
    processor: 'some',
    cores: 2,
    memoryBytes: 25_276_829_696,
    system: 'Linux',
    descriptors: 20_000,
    loadBefore: 0.123_456_789,
    software: { node: '24.0.0' },
  },
  seconds: 3,
  rounds: 3,
  events: 20,
  measurements: { start: { starts: 3, firstAnswerMs: FAILED } },
  failures: { plain: 'it fell over' },
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-results-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('keeps results as they were, with five digits, and those of what failed', async () => {
  const path = join(folder, 'in/a/folder.json');
  await writeResults(path, RESULTS);
  expect(await readResults(path)).toEqual({
    ...RESULTS,
    tookSeconds: 1_234.6,
    machine: { ...RESULTS.machine, loadBefore: 0.123_46 },
  });
  expect(await readFile(path, 'utf8')).toMatch(/^\{\n {2}"takenAt": .*\n\}\n$/s);
});

it('has the goals of the run before, if that was a whole one of the same commit', () => {
  const firstAnswerMs = { median: 250, min: 240, max: 260 };
  const before: Results = {
    ...RESULTS,
    takenAt: '2026-01-01T03:04:05.678Z',
    measurements: { start: { starts: 3, firstAnswerMs } },
  };
  expect(withRunBefore(RESULTS, before).before).toEqual({
    takenAt: before.takenAt,
    goals: { 'start to the first answer': '250 ms' },
  });
  const later = { takenAt: before.takenAt, commit: 'def5678' };
  expect(withRunBefore(RESULTS, undefined)).toBe(RESULTS);
  expect(withRunBefore(RESULTS, { ...before, commit: 'def5678' })).toBe(RESULTS);
  expect(withRunBefore(RESULTS, { ...before, added: { start: later } })).toBe(RESULTS);
});

it('puts the parts of a later run beside those of the whole one, and says so', () => {
  const { start } = RESULTS.measurements;
  const later = { takenAt: '2026-01-03T03:04:05.678Z', commit: 'def5678' };
  const before = { takenAt: RESULTS.takenAt, goals: {} };
  const whole: Results = { ...RESULTS, measurements: {}, before };
  expect(withParts(whole, { ...RESULTS, ...later, measurements: { start } })).toEqual({
    ...RESULTS,
    added: { start: later },
  });
});
