import { describe, expect, it } from '@jest/globals';
import { createLogger } from './create-logger.ts';
import { InfoLines } from './info-lines.ts';

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
      const child = logger.child(bindings);
      child.info({ path: '/a"b', status: 200 }, 'request');
      new InfoLines(child).write(',"path":"/a\\"b","status":200', 'request');
    }
    const [byLogger, own, byChild, ownOfChild] = lines.map(withoutTime);
    expect(own).toBe(byLogger);
    expect(ownOfChild).toBe(byChild);
  });

  it('says whether the level lets them through', () => {
    expect(new InfoLines(linesOf('info').logger).isOn).toBe(true);
    expect(new InfoLines(linesOf('warn').logger).isOn).toBe(false);
  });
});
