import { describe, expect, it } from '@jest/globals';
import { createLogger, infoLines } from './create-logger.ts';

function linesOf(level: 'info' | 'warn'): {
  logger: ReturnType<typeof createLogger>;
  lines: string[];
} {
  const lines: string[] = [];
  return { logger: createLogger(level, { write: (line) => lines.push(line) }), lines };
}

const withoutTime = (line: string | undefined): string =>
  (line ?? '').replace(/"time":"[^"]*"/, '"time":""');

describe('InfoLines', () => {
  it('writes what the logger itself writes, byte for byte but for the time', () => {
    const { logger, lines } = linesOf('info');
    for (const bindings of [{}, { listener: 'management' }] as Record<string, string>[]) {
      logger.child(bindings).info({ path: '/a"b', status: 200 }, 'request');
      infoLines(logger, bindings).write(',"path":"/a\\"b","status":200', 'request');
    }
    const [byLogger, own, byChild, ownOfChild] = lines.map(withoutTime);
    expect(own).toBe(byLogger);
    expect(ownOfChild).toBe(byChild);
  });

  it('says whether the level lets them through', () => {
    expect(infoLines(linesOf('info').logger).isOn).toBe(true);
    expect(infoLines(linesOf('warn').logger).isOn).toBe(false);
  });
});
