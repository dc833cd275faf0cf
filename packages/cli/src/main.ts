import { runOnOwnNode } from '../../../src/platform/process/own-node.ts';

// Everything else is imported later. On a Node that is too old, an import would fail with a stack trace instead of
// a plain sentence.
if (!runOnOwnNode()) await import('./run.ts');
