import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';

/** The least version, as in `engines` of package.json. */
const MIN_NODE = { major: 22, minor: 19 };
/**
 * The newest version that the tests run on. A later one may change the private parts of Node that the gateway uses.
 */
const MAX_NODE_MAJOR = 26;
const FORWARDED_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * On a Node that is too old or too new, runs the same program on the Node that the project brings as a development
 * dependency. If that is not installed, exits with a plain sentence.
 *
 * @param earlierSignal resolves with a signal that has come before the call, if the caller has handlers already.
 * @returns whether it did; false on any Node that will do.
 */
export function runOnOwnNode(earlierSignal?: Promise<NodeJS.Signals>): boolean {
  if (isSupported(process.versions.node)) return false;

  const nodePath = ownNodePath();
  if (nodePath === undefined) {
    const { major, minor } = MIN_NODE;
    fail(`needs Node ${major}.${minor} to ${MAX_NODE_MAJOR}; this is ${process.version}`);
  }
  const child = spawn(nodePath, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
  });
  for (const signal of FORWARDED_SIGNALS) process.on(signal, () => child.kill(signal));
  void earlierSignal?.then((signal) => child.kill(signal));
  child.on('error', (error) => fail(`cannot run ${nodePath}: ${error.message}`));
  child.on('exit', (code, signal) =>
    process.exit(code ?? 128 + constants.signals[signal ?? 'SIGTERM']),
  );
  return true;
}

/** Whether a version such as `22.19.0` is supported. */
export function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > MAX_NODE_MAJOR) return false;
  return major > MIN_NODE.major || (major === MIN_NODE.major && minor >= MIN_NODE.minor);
}

function ownNodePath(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('node/bin/node');
  } catch {
    return undefined;
  }
}

function fail(what: string): never {
  process.stderr.write(`agent-gateway ${what}.\n`);
  process.exit(1);
}
