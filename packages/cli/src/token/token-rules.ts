/**
 * The gateway's own rules for read tokens; see `gateway-rules.ts`. They are separate because only `token` needs to
 * verify signatures.
 */
export { checkReadAccess } from '../../../../src/auth/read-access.ts';
export { jwkSetReader } from '../../../../src/auth/jwk-set.ts';
export { ReadTokenVerifier } from '../../../../src/auth/read-token-verifier.ts';
export { readTokenFromClaims, type ReadToken } from '../../../../src/auth/read-token.ts';
export { parseShapeScope } from '../../../../src/auth/shape-scope.ts';
export { TokenKeySet } from '../../../../src/auth/token-key-set.ts';
export { parseReadTokenSecrets } from '../../../../src/contract/secret-lists.ts';
export { GatewayError } from '../../../../src/platform/errors/gateway-error.ts';
export {
  isControlPlanePath,
  parsePathScope,
  scopeCovers,
} from '../../../../src/contract/path-scope.ts';
export { isBelow, pathProblem } from '../../../../src/platform/http/request-path.ts';
export { isReadPath } from '../../../../src/contract/routes.ts';
export { SHAPE_PATH, shapeQuery } from '../../../../src/shapes/shape-query.ts';
