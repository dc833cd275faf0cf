import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
export const PACKAGE = join(ROOT, 'packages/python');
const CANDIDATES = [
  'python3',
  'python3.14',
  'python3.13',
  'python3.12',
  'python3.11',
  'python3.10',
];
const IS_NEW_ENOUGH = 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))';

const HOW_TO_GET_IT =
  'Python 3.10 or newer with venv is missing: on Debian and Ubuntu `apt install python3-venv`. PYTHON may name another one.';

/** What a person has to do first. */
export class MissingPython extends Error {}

/** The program of a Python that is new enough and can make environments. */
function findPython(): string {
  const named = process.env.PYTHON;
  const found = (named ? [named] : CANDIDATES).find(
    (command) => spawnSync(command, ['-c', IS_NEW_ENOUGH]).status === 0,
  );
  if (found === undefined) throw new MissingPython(HOW_TO_GET_IT);
  return found;
}

/**
 * Makes an environment with the package as it is in the project and all that its tests use, in a folder that Git ignores. One that is there
 * already is used again, as long as `pyproject.toml` is the same. Throws a `MissingPython`.
 *
 * @returns the folder of its programs.
 */
export function pythonEnvironment(): string {
  const python = findPython();
  const version = execFileSync(python, ['--version'], { encoding: 'utf8' });
  const project = readFileSync(join(PACKAGE, 'pyproject.toml'), 'utf8');
  const made = createHash('sha256').update(`${version}${PACKAGE}${project}`).digest('hex');
  const folder = join(ROOT, '.local/python');
  const bin = join(folder, 'bin');
  const mark = join(folder, 'made');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === made) return bin;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(ROOT, '.local'), { recursive: true });
  const run = (command: string, ...args: string[]): void => {
    execFileSync(command, args, { stdio: 'inherit' });
  };
  run(python, '-m', 'venv', folder);
  const pip = [join(bin, 'python'), '-m', 'pip', 'install', '-q', '--disable-pip-version-check'];
  const install = (...what: string[]): void => {
    try {
      run(pip[0] ?? '', ...pip.slice(1), ...what);
    } catch (cause) {
      throw new MissingPython(`pip cannot install ${what.join(' ')}: is there an index?`, {
        cause,
      });
    }
  };
  // Groups of dependencies are new in it.
  install('--upgrade', 'pip>=25.1');
  install('--group', `${join(PACKAGE, 'pyproject.toml')}:dev`, '-e', `${PACKAGE}[agent]`);
  writeFileSync(mark, made);
  return bin;
}
