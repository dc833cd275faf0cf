import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { READ_TOKEN_CREDENTIAL } from '../contract/api-key.ts';
import { SecretFiles } from '../platform/config/secret-files.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { requestContext } from '../platform/server/request-context.ts';
import { ApiKeyGuard } from './api-key.guard.ts';
import { tokenExpired } from './bearer.ts';
import { checkReadAccess } from './read-access.ts';
import type { ReadToken } from './read-token.ts';
import { setAccess } from './request-access.ts';
import { ReadTokenVerifier } from './read-token-verifier.ts';
import { sentCredential, type SentCredential } from './sent-credential.ts';

/** Lets in an API key that has the route's scope, and a read token for reads of what its prefix covers. */
@Injectable()
export class ReadAccessGuard implements CanActivate {
  constructor(
    private readonly apiKeyGuard: ApiKeyGuard,
    private readonly readTokens: ReadTokenVerifier,
    private readonly files: SecretFiles,
  ) {}

  canActivate(executionContext: ExecutionContext): true | Promise<true> {
    const request = executionContext.switchToHttp().getRequest<ClientRequest>();
    const sent = sentCredential(request);
    const { version } = this.files;
    if (this.apiKeyGuard.letsIn(request, sent, executionContext)) return true;
    const known = this.readTokens.known(sent.id);
    if (known) return letIn(request, known);
    return this.letInWithToken(request, sent).catch(async (error: unknown) => {
      if (!(error instanceof GatewayError) || error.code !== 'invalid_credentials') throw error;
      // The credential may be newer than the lists.
      await this.files.readAgain();
      if (this.files.version === version) throw error;
      return (
        this.apiKeyGuard.letsIn(request, sent, executionContext) ||
        this.letInWithToken(request, sent)
      );
    });
  }

  private async letInWithToken(request: ClientRequest, sent: SentCredential): Promise<true> {
    return letIn(request, await this.readTokens.verify(sent.credential, sent.id));
  }
}

/** Throws if the token does not open the request. */
function letIn(request: ClientRequest, token: ReadToken): true {
  const context = requestContext(request);
  context.credential = READ_TOKEN_CREDENTIAL;
  context.subject = token.subject;
  checkReadAccess(token, request.method, context.path);
  context.expiryError = tokenExpired;
  context.expiresAtMs = token.expiresAtSeconds * 1_000;
  context.caller = token.caller;
  setAccess(context, { readToken: token });
  return true;
}
