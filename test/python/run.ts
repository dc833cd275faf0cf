/**
 * The Python package: its format, types and tests, its wheel in an environment of its own, and its programs against the real system:
 * `npm run test:python`. It makes its environment by itself. Ends with the line "N passed, M failed".
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findChromium, HOW_TO_GET_CHROMIUM } from '../browser/chromium.ts';
import { MissingPython, PACKAGE, pythonEnvironment } from './environment.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Outside of the package. */
const PROGRAMS = [
  'examples/chat/server.py',
  'test/python/recorded_model.py',
  'test/support/model_agent_main.py',
].map((file) => join(ROOT, file));

let passed = 0;
let failed = 0;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Runs a tool and shows what it says. */
function run(command: string, args: string[], cwd = PACKAGE, more: NodeJS.ProcessEnv = {}) {
  say(`\n$ ${[command, ...args].join(' ')}`);
  const env = { ...process.env, ...more, PYTHONDONTWRITEBYTECODE: '1' };
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const output = `${stdout}${stderr}`;
  process.stdout.write(output);
  return { isGood: status === 0, output };
}

/** Counts as one. */
function check(...args: Parameters<typeof run>): boolean {
  const { isGood } = run(...args);
  if (isGood) passed += 1;
  else failed += 1;
  return isGood;
}

/** Counts as many as it says itself: the last "N passed" and "N failed" of pytest and Jest. */
function suite(...args: Parameters<typeof run>): void {
  const { isGood, output } = run(...args);
  const line = output.split('\n').findLast((text) => /\d+ (?:passed|failed)/.test(text)) ?? '';
  const numberOf = (word: string): number =>
    Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
  passed += numberOf('passed');
  failed += numberOf('failed') || (isGood && numberOf('passed') > 0 ? 0 : 1);
}

/** The package installs by itself, and its names are there, with their types. */
function checkWheel(bin: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'python-wheel-'));
  const python = join(bin, 'python');
  const quiet = ['install', '-q', '--disable-pip-version-check'];
  try {
    if (!check(python, ['-m', 'pip', 'wheel', '-q', '--no-deps', '-w', folder, PACKAGE])) return;
    const [wheel = ''] = globSync(join(folder, '*.whl'));
    // The pip that is here installs it: one more would take as long as the package itself.
    if (!check(python, ['-m', 'venv', '--without-pip', join(folder, 'own')])) return;
    const own = join(folder, 'own/bin/python');
    if (!check(python, ['-m', 'pip', '--python', own, ...quiet, wheel])) return;
    const use = [
      'import agent_gateway, importlib.metadata, importlib.util, pathlib',
      'names = {one.metadata["Name"].lower() for one in importlib.metadata.distributions()}',
      'assert "httpx" in names and "restate-sdk" not in names, names',
      'assert (pathlib.Path(agent_gateway.__file__).parent / "py.typed").exists()',
      'assert "site-packages" in agent_gateway.__file__',
      'agent_gateway.Gateway("http://localhost:8787", "key").close()',
    ].join('\n');
    check(own, ['-c', use], folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function main(): void {
  const bin = pythonEnvironment();
  const tool = (name: string): string => join(bin, name);
  const sources = ['.', ...PROGRAMS, '--config', 'pyproject.toml'];
  check(tool('ruff'), ['format', '--check', ...sources]);
  check(tool('ruff'), ['check', ...sources]);
  check(tool('mypy'), []);
  suite(tool('pytest'), []);
  checkWheel(bin);
  const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
  const options = ['--experimental-vm-modules', jest, '--config', 'test/python/jest.config.js'];
  // Its programs before those of the machine.
  const path = `${bin}${delimiter}${process.env.PATH ?? ''}`;
  const env = { PYTHON_BIN: bin, PATH: path };
  suite(process.execPath, [...options, ...process.argv.slice(2)], ROOT, env);
  // The page of examples/chat with its back end in Python.
  if (findChromium() === undefined && !process.env.CI) say(HOW_TO_GET_CHROMIUM);
  else check(process.execPath, [join(ROOT, 'test/browser/run.ts'), 'chat'], ROOT, env);
  say(`\n${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

try {
  main();
} catch (error) {
  if (!(error instanceof MissingPython)) throw error;
  say(error.message);
  process.exitCode = 1;
}
