/**
 * The gateway's rules for addresses and API keys, of which the command line has no copy. Everything that it imports
 * from `src/` comes through this file and `token/token-rules.ts`. None of it loads Nest, which `package.spec.ts`
 * checks.
 */
export {
  entityIdProblem,
  entityTypeProblem,
  entityUrl,
  timelinePath,
} from '../../../src/commands/entity-address.ts';
export { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_RULE } from '../../../src/commands/idempotency-key.ts';
export { CONTROL_VERBS } from '../../../src/commands/command-verb.ts';
export { ADDRESS_PATTERNS } from '../../../src/contract/address-patterns.ts';
export { keyProblem, parseScopes, SCOPES, type Scope } from '../../../src/contract/api-key.ts';
export { parseApiKeys } from '../../../src/contract/secret-lists.ts';
export {
  readSmallFileSync,
  smallText,
  UnusableFile,
} from '../../../src/platform/config/small-file.ts';
export { pathProblem } from '../../../src/platform/http/request-path.ts';
