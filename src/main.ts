import module from 'node:module';
import { join } from 'node:path';

// These handlers come before every import, because the imports take a fifth of a second. Without a handler a process with
// PID 1 ignores a signal, and any other process ends at once.
const firstSignal = new Promise<NodeJS.Signals>((resolve) => {
  process.on('SIGTERM', resolve).on('SIGHUP', resolve).on('SIGINT', resolve);
});
// Without a handler Node opens its debugger at this signal.
process.on('SIGUSR1', () => undefined);

// At its end Node keeps what it has compiled beside the program, which saves a fifth of the next start. It goes without where
// the folder cannot be written, as in the image. Node 20 has no such cache. It does not get far, because the check below refuses it.
module.enableCompileCache?.(join(import.meta.dirname, '.compile-cache'));

const { runOnOwnNode } = await import('./platform/process/own-node.ts');
// Everything else is imported later. On a Node that is too old or differs, an import would fail with a stack trace
// instead of a plain sentence.
if (!runOnOwnNode(firstSignal)) {
  const { privatePartsProblem } = await import('./platform/private-parts/start-check.ts');
  const problem = await privatePartsProblem();
  if (problem === undefined) {
    const { bootstrap } = await import('./bootstrap.ts');
    await bootstrap(firstSignal);
  } else {
    process.stderr.write(`agent-gateway ${problem}. Run it on Node 24.\n`);
    process.exitCode = 1;
  }
}
