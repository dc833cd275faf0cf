import { describe, expect, it } from '@jest/globals';
import { createLogger } from '../../log/create-logger.ts';
import { ExportLog } from './export-log.ts';

/** A log whose clock stands until it is set, and the lines that came. */
function newLog() {
  const lines: Record<string, unknown>[] = [];
  const sink = { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) };
  let nowMs = 0;
  const log = new ExportLog(createLogger('info', sink), () => nowMs);
  const linesAfter = (atMs: number, act: () => void) => {
    nowMs = atMs;
    act();
    return lines.splice(0).map(({ level, message, lostSpans }) => ({ level, message, lostSpans }));
  };
  return { log, linesAfter };
}

describe('ExportLog', () => {
  it('speaks at the first loss, then at most once a minute, and counts what was lost meanwhile', () => {
    const { log, linesAfter } = newLog();
    const lose = (count: number) => () => log.lost(count, new Error('refused'));
    const line = (lostSpans: number) => ({
      level: 'warn',
      message: 'spans could not be sent',
      lostSpans,
    });
    expect(linesAfter(0, lose(10))).toEqual([line(10)]);
    expect(linesAfter(1, lose(20))).toEqual([]);
    expect(linesAfter(59_999, lose(30))).toEqual([]);
    expect(linesAfter(60_000, lose(40))).toEqual([line(90)]);
    expect(linesAfter(60_001, lose(50))).toEqual([]);
  });

  it('has one minute for both, what the exporter and what the SDK say', () => {
    const { log, linesAfter } = newLog();
    expect(linesAfter(0, () => log.sdkWarned('Dropped 3 spans'))).toEqual([
      { level: 'warn', message: 'the tracing SDK warns', lostSpans: 0 },
    ]);
    expect(linesAfter(1, () => log.lost(1, new Error('refused')))).toEqual([]);
  });
});
