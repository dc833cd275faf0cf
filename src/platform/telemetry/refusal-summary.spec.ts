import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { RefusalSummary, type RefusalCounts } from './refusal-summary.ts';

function summary() {
  const written: RefusalCounts[] = [];
  const refusals = new RefusalSummary((counts) => written.push(counts));
  const refuse = (count: number, address?: string, code = 'invalid_credentials'): number => {
    let lines = 0;
    for (let i = 0; i < count; i++) if (refusals.takesLine(code, address)) lines++;
    return lines;
  };
  return { refusals, written, refuse };
}

describe('RefusalSummary', () => {
  beforeAll(() => void jest.useFakeTimers());
  afterAll(() => void jest.useRealTimers());

  it('leaves every line of a caller that is refused now and then', () => {
    const { refusals, written, refuse } = summary();
    for (let second = 0; second < 3; second++) {
      expect(refuse(100, '192.0.2.1')).toBe(100);
      jest.advanceTimersByTime(1_000);
    }
    refusals.end();
    expect(written).toEqual([]);
  });

  // 45,000 refusals in six seconds hid the audit line of a DELETE in the journal.
  it('writes a hundred lines a second of a flood, and one that sums up the others', () => {
    const { refusals, written, refuse } = summary();
    expect(refuse(7_500, '192.0.2.1')).toBe(100);
    expect(refuse(300, '192.0.2.1', 'missing_credentials')).toBe(0);
    jest.advanceTimersByTime(999);
    expect(refuse(1, '192.0.2.1')).toBe(0);
    expect(written).toEqual([]);
    // Without another request.
    jest.advanceTimersByTime(1);
    expect(written).toEqual([
      {
        refused: 7_701,
        codes: { invalid_credentials: 7_401, missing_credentials: 300 },
        addresses: { '192.0.2.1': 7_701 },
        fromOthers: 0,
      },
    ]);
    expect(refuse(101, '192.0.2.1')).toBe(100);
    refusals.end();
    expect(written[1]).toMatchObject({ refused: 1 });
    refusals.end();
    expect(written).toHaveLength(2);
  });

  it('hides nobody beside a flood from one address, nor from a whole network of IPv6', () => {
    const { refuse } = summary();
    expect(refuse(5_000, '192.0.2.1')).toBe(100);
    let lines = 0;
    for (let i = 0; i < 5_000; i++) lines += refuse(1, `2001:db8::${i.toString(16)}:1`);
    expect(lines).toBe(100);
    expect(refuse(10, '198.51.100.7')).toBe(10);
  });

  it('leaves the first line of each caller, when many together have taken the others', () => {
    const { refuse } = summary();
    for (let i = 0; i < 100; i++) refuse(100, `192.0.2.${i}`);
    expect(refuse(3, '198.51.100.7')).toBe(1);
  });

  it('bounds the lines and the memory of a flood from everywhere, and counts each refusal', () => {
    const { refusals, written, refuse } = summary();
    let lines = 0;
    for (let i = 0; i < 20_000; i++)
      lines += refuse(1, `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    lines += refuse(500, '10.0.0.0');
    expect(lines).toBe(1_000);
    refusals.end();
    const [counts] = written;
    expect(counts?.addresses).toEqual({ '10.0.0.0': 500 });
    expect(counts?.refused).toBe(20_500 - lines);
    expect(counts?.fromOthers).toBe(20_500 - lines - 500);
  });

  it.each([
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['1::2:3:4:5:6', '1:0:0:2::/64'],
  ])('counts %s with its network %s', (address, network) => {
    const { refusals, written, refuse } = summary();
    refuse(101, address);
    refusals.end();
    expect(written[0]?.addresses).toEqual({ [network]: 1 });
  });

  it('names the ten callers with the most', () => {
    const { refusals, written, refuse } = summary();
    for (let i = 0; i < 12; i++) refuse(101 + i, `192.0.2.${i}`);
    refuse(150);
    refusals.end();
    const { addresses = {}, fromOthers } = written[0] ?? {};
    expect(Object.keys(addresses)).toHaveLength(10);
    expect(Object.entries(addresses)[0]).toEqual(['unknown', 149]);
    expect(fromOthers).toBeGreaterThan(0);
  });
});
