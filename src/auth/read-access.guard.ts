import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { ClientRequest } from '../http/client-request.ts';
import { requestContext } from '../server/request-context.ts';
import { ApiKeys } from './api-keys.ts';
import { bearerCredential, credentialDigest } from './bearer.ts';
import { letInWithKey } from './key-access.ts';
import { checkReadAccess } from './read-access.ts';
import type { ReadToken } from './read-token.ts';
import { openedByToken, sentWithToken } from './request-access.ts';
import { ReadTokenVerifier } from './read-token-verifier.ts';
import { RouteRules } from './route-rules.ts';

/** Lets in an API key that has the route's scope, and a read token for reads of what its prefix covers. */
@Injectable()
export class ReadAccessGuard implements CanActivate {
  constructor(
    private readonly apiKeys: ApiKeys,
    private readonly readTokens: ReadTokenVerifier,
    private readonly rules: RouteRules,
  ) {}

  canActivate(executionContext: ExecutionContext): true | Promise<true> {
    const request = executionContext.switchToHttp().getRequest<ClientRequest>();
    const credential = bearerCredential(request);
    const digest = credentialDigest(credential);
    const id = digest.toString('base64');
    const key = this.apiKeys.find(digest);
    if (key) {
      letInWithKey(key, id, request, this.rules.scopeOf(executionContext));
      return true;
    }
    const known = this.readTokens.known(id);
    if (known) return letIn(request, known);
    return this.readTokens.verify(credential, id).then((token) => letIn(request, token));
  }
}

/** Throws if the token does not open the request. */
function letIn(request: ClientRequest, token: ReadToken): true {
  const context = requestContext(request);
  sentWithToken(context, token.subject);
  checkReadAccess(token, request.method, context.path);
  openedByToken(context, token);
  return true;
}
