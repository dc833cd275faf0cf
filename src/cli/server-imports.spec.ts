import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const SRC = join(import.meta.dirname, '..');
const OF_THE_COMMAND_LINE = ['commander', '@durable-streams/client', '@electric-sql/client'];

/** Every file and package that a file can come to load, at its start or later; types are not loaded. */
function loadedBy(entry: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const name of importsOf(readFileSync(file, 'utf8'))) {
      if (!name.startsWith('.')) packages.add(name);
      else visit(join(dirname(file), name));
    }
  };
  visit(join(SRC, entry));
  return { files: new Set([...files].map((file) => relative(SRC, file))), packages };
}

function importsOf(source: string): string[] {
  const code = source.replaceAll(/^(?:import|export) type [^;]*;/gm, '');
  const patterns = [/^(?:import|export)\s[^;]*?from '([^']+)'/gm, /^import '([^']+)'/gm];
  const late = /\bimport\('([^']+)'\)/g;
  return [...patterns, late].flatMap((pattern) =>
    [...code.matchAll(pattern)].map(([, name = '']) => name),
  );
}

describe('the server', () => {
  const server = loadedBy('main.ts');

  it('loads nothing of the command line', () => {
    // Else this would hold for want of any file.
    expect([...server.files]).toEqual(
      expect.arrayContaining(['bootstrap.ts', 'gateway.ts', 'commands/commands.service.ts']),
    );
    expect([...server.files].filter((file) => file.startsWith('cli/'))).toEqual([]);
    expect(OF_THE_COMMAND_LINE.filter((name) => server.packages.has(name))).toEqual([]);
  });
});

describe('the command line', () => {
  const cli = loadedBy('cli/main.ts');

  it('loads nothing of Nest, nor what it brings', () => {
    expect([...cli.packages].filter((name) => OF_THE_COMMAND_LINE.includes(name)).sort()).toEqual(
      [...OF_THE_COMMAND_LINE].sort(),
    );
    const ofServer = [...cli.packages].filter((name) =>
      /^@nestjs\/|^class-|^pino$|^rxjs$/.test(name),
    );
    expect(ofServer).toEqual([]);
    expect([...cli.files].every((file) => existsSync(join(SRC, file)))).toBe(true);
  });

  it('loads the clients only with the commands that read with them', () => {
    const early = readFileSync(join(SRC, 'cli/program.ts'), 'utf8');
    const commands = importsOf(early).filter((name) => name.startsWith('./commands/'));
    expect(commands.length).toBeGreaterThan(9);
    for (const command of commands) {
      const source = readFileSync(join(SRC, 'cli', command), 'utf8').replaceAll(
        /import\('[^']+'\)/g,
        '',
      );
      expect(
        importsOf(source).filter((name) =>
          /timeline|show-|client|token\/|doctor\/|jose/.test(name),
        ),
      ).toEqual([]);
    }
  });
});
