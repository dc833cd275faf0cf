import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';

const MIN_NODE = { major: 22, minor: 19 };
const FORWARDED_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * On a Node that is too old, runs this same program on the Node that the project brings as a
 * development dependency, or exits with a plain sentence where that is not installed.
 *
 * @returns whether it did; false on any Node that will do.
 */
export function runOnOwnNode(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > MIN_NODE.major || (major === MIN_NODE.major && minor >= MIN_NODE.minor)) return false;

  const nodePath = ownNodePath();
  if (nodePath === undefined) {
    process.stderr.write(
      `agent-gateway needs Node ${MIN_NODE.major}.${MIN_NODE.minor} or newer; this is ${process.version}.\n`,
    );
    process.exit(1);
  }
  const child = spawn(nodePath, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
  });
  for (const signal of FORWARDED_SIGNALS) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) =>
    process.exit(code ?? 128 + constants.signals[signal ?? 'SIGTERM']),
  );
  return true;
}

function ownNodePath(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('node/bin/node');
  } catch {
    return undefined;
  }
}
