import { runOnOwnNode } from './own-node.ts';

// Everything else is imported later. On a Node that is too old or differs, an import would fail with a stack trace
// instead of a plain sentence.
if (!runOnOwnNode()) {
  const { privatePartsProblem } = await import('./private-parts/start-check.ts');
  const problem = await privatePartsProblem();
  if (problem === undefined) {
    await import('./bootstrap.ts');
  } else {
    process.stderr.write(`agent-gateway ${problem}. Run it on Node 24.\n`);
    process.exitCode = 1;
  }
}
