import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
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
  visit(join(ROOT, entry));
  return { files: new Set([...files].map((file) => relative(ROOT, file))), packages };
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
  const server = loadedBy('src/main.ts');

  it('loads nothing of the command line, nor of the client library', () => {
    // Else this would hold for want of any file.
    expect([...server.files]).toEqual(
      expect.arrayContaining([
        'src/bootstrap.ts',
        'src/gateway.ts',
        'src/commands/commands.service.ts',
      ]),
    );
    expect([...server.files].filter((file) => !file.startsWith('src/'))).toEqual([]);
    expect(OF_THE_COMMAND_LINE.filter((name) => server.packages.has(name))).toEqual([]);
  });
});

describe('the command line', () => {
  const cli = loadedBy('packages/cli/src/main.ts');

  it('loads nothing of Nest, nor what it brings', () => {
    expect([...cli.packages].filter((name) => OF_THE_COMMAND_LINE.includes(name)).sort()).toEqual(
      [...OF_THE_COMMAND_LINE].sort(),
    );
    const ofServer = [...cli.packages].filter((name) =>
      /^@nestjs\/|^class-|^pino$|^rxjs$/.test(name),
    );
    expect(ofServer).toEqual([]);
    expect([...cli.files].every((file) => existsSync(join(ROOT, file)))).toBe(true);
    const manifest = readFileSync(join(ROOT, 'packages/cli/package.json'), 'utf8');
    const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
    const needed = [...cli.packages].filter((name) => !name.startsWith('node:')).sort();
    expect(Object.keys(dependencies).sort()).toEqual(needed);
  });

  it('takes the rules of the gateway through its two doors', () => {
    const doors = [
      'packages/cli/src/gateway-rules.ts',
      'packages/cli/src/token/token-rules.ts',
      'packages/cli/src/main.ts',
    ];
    const others = [...cli.files].filter(
      (file) => file.startsWith('packages/cli/') && !doors.includes(file),
    );
    const inside = others.filter((file) =>
      importsOf(readFileSync(join(ROOT, file), 'utf8')).some(
        (name) => name.includes('../src/') && !name.includes('client/src'),
      ),
    );
    expect(inside).toEqual([]);
  });

  it('loads the clients only with the commands that read with them', () => {
    const early = readFileSync(join(ROOT, 'packages/cli/src/program.ts'), 'utf8');
    const commands = importsOf(early).filter((name) => name.startsWith('./commands/'));
    expect(commands.length).toBeGreaterThan(9);
    for (const command of commands) {
      const source = readFileSync(join(ROOT, 'packages/cli/src', command), 'utf8').replaceAll(
        /import\('[^']+'\)/g,
        '',
      );
      expect(
        importsOf(source).filter((name) => /timeline|show-|token\/|doctor\/|jose/.test(name)),
      ).toEqual([]);
    }
  });
});
