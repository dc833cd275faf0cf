import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');

/** What Nest would load if the gateway had it. Only `@nestjs/swagger` is installed, for development. */
const NOT_USED = /^@nestjs\/(?:microservices|swagger|websockets)(?:\/|$)/;

/**
 * Makes one program of the gateway and of the packages that it uses. It starts in half the time, because Node has to find, read and
 * link a dozen files instead of 1,500, and it runs without `node_modules`. All is made in a folder of this build, below the project so
 * that the packages are found: several builds may run at the same time, and one that fails leaves the last program as it is.
 */
mkdirSync(join(ROOT, '.local'), { recursive: true });
const folder = mkdtempSync(join(ROOT, '.local/build-'));
const [compiled, program] = [join(folder, 'compiled'), join(folder, 'program')];
try {
  compile();
  await build({
    input: join(compiled, 'main.js'),
    // Comments of the program name its files as seen from here: not by the random name of the folder.
    cwd: folder,
    platform: 'node',
    external: NOT_USED,
    output: {
      dir: program,
      chunkFileNames: '[name].js',
      sourcemap: true,
      // As seen from the place where the program will be.
      sourcemapPathTransform: (source) => source.replace(/^(?:\.\.\/)+/, '../'),
    },
    plugins: [{ name: 'maps-of-the-compiler', load: withSourceMap }],
    onLog: (_level, { message }) => {
      // Such as a package that cannot be found: it would fail only when it is loaded.
      throw new Error(message);
    },
  });
  takePlace();
} finally {
  rmSync(folder, { recursive: true });
}

/** The compiler has said what is wrong when it fails. */
function compile(): void {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', join(ROOT, 'tsconfig.build.json'), '--outDir', compiled];
  execFileSync(process.execPath, args, { stdio: ['ignore', process.stderr.fd, 'inherit'] });
}

/** With the map that the compiler has written, the maps of the program name the files in `src`. */
function withSourceMap(path: string): { code: string; map: string } | null {
  const map = `${path}.map`;
  if (!path.startsWith(compiled) || !existsSync(map)) return null;
  return { code: readFileSync(path, 'utf8'), map: readFileSync(map, 'utf8') };
}

function takePlace(): void {
  rmSync(DIST, { recursive: true, force: true });
  try {
    renameSync(program, DIST);
  } catch (error) {
    // Another build of the same sources was faster.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  }
}
