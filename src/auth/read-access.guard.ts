import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { ClientRequest } from '../http/client-request.ts';
import { requestContext } from '../server/request-context.ts';
import { ApiKeys } from './api-keys.ts';
import { bearerCredential, credentialDigest } from './bearer.ts';
import { checkReadAccess } from './read-access.ts';
import type { ReadToken } from './read-token.ts';
import { openedByKey, openedByToken } from './request-access.ts';
import { ReadTokenVerifier } from './read-token-verifier.ts';

/** Lets in an API key for everything, and a read token for reads of what its prefix covers. */
@Injectable()
export class ReadAccessGuard implements CanActivate {
  constructor(
    private readonly apiKeys: ApiKeys,
    private readonly readTokens: ReadTokenVerifier,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const request = context.switchToHttp().getRequest<ClientRequest>();
    const credential = bearerCredential(request);
    const digest = credentialDigest(credential);
    const name = digest.toString('base64');
    if (this.apiKeys.has(digest)) {
      openedByKey(requestContext(request), name);
      return true;
    }
    const known = this.readTokens.known(name);
    if (known) return letIn(request, known);
    return this.readTokens.verify(credential, name).then((token) => letIn(request, token));
  }
}

/** Throws where the token does not open what is asked for. */
function letIn(request: ClientRequest, token: ReadToken): true {
  const context = requestContext(request);
  checkReadAccess(token, request.method, context.path);
  openedByToken(context, token);
  return true;
}
