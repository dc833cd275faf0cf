/**
 * The gateway's own rules, of which the command line has no copy: what an address and an API key may be. All that it takes from
 * `src/` comes through here and through `token/token-rules.ts`. Nothing of it loads Nest, which `package.spec.ts` holds.
 */
export {
  entityIdProblem,
  entityTypeProblem,
  entityUrl,
  timelinePath,
} from '../../src/commands/entity-address.ts';
export { ADDRESS_PATTERNS } from '../../src/config/address-patterns.ts';
export { parseScopes, SCOPES, type Scope } from '../../src/config/api-key.ts';
export { parseApiKeys } from '../../src/config/secret-lists.ts';
export { pathProblem } from '../../src/http/request-path.ts';
