import { runOnOwnNode } from '../../src/own-node.ts';

// Everything else is imported late: on a Node that is too old an import would fail with a stack
// trace in place of a plain sentence.
if (!runOnOwnNode()) await import('./run.ts');
