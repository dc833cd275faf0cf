/** What the peers share with the gateway, so that they do it in the same way. */
export { IDEMPOTENCY_KEY } from '../../src/commands/idempotency-key.ts';
export { freshUlid } from '../../src/platform/http/request-id.ts';
export { pathProblem } from '../../src/platform/http/request-path.ts';
export { setCollectorFlags } from '../../src/platform/process/v8-flags.ts';
