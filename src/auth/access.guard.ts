import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { READ_TOKEN_CREDENTIAL, type Scope } from '../contract/api-key.ts';
import { SecretFiles } from '../platform/config/secret-files.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { requestContext } from '../platform/server/request-context.ts';
import { accessRuleOf, takesReadTokens } from './access.decorator.ts';
import { ApiKeys } from './api-keys.ts';
import { invalidCredentials, tokenExpired } from './bearer.ts';
import { checkKeyAccess } from './key-access.ts';
import { checkReadAccess } from './read-access.ts';
import type { ReadToken } from './read-token.ts';
import { ReadTokenVerifier } from './read-token-verifier.ts';
import type { RequestAccess } from './request-access.ts';
import { sentCredential } from './sent-credential.ts';

/**
 * Applies to every route the access that the route declares. It lets in an API key that has the route's scope, and a read
 * token for reads of what its prefix covers.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly apiKeys: ApiKeys,
    private readonly readTokens: ReadTokenVerifier,
    private readonly files: SecretFiles,
  ) {}

  canActivate(execution: ExecutionContext): true | Promise<true> {
    const rule = accessRuleOf(execution.getHandler(), execution.getClass());
    if (rule === 'public') return true;
    if (rule === undefined) {
      // Start-up refuses such a route; this is the second lock.
      throw new Error(`${execution.getClass().name} declares no access for a route`);
    }
    const request = execution.switchToHttp().getRequest<ClientRequest>();
    return this.opened(request, rule) ?? this.openedLater(request, rule);
  }

  /** Lets in a key, or a token that is known. Undefined for any other credential. Throws 403 as documented. */
  private opened(request: ClientRequest, rule: Scope): true | undefined {
    const { credential, digest, id } = sentCredential(request);
    const key = this.apiKeys.keyOf(credential, digest);
    if (key) {
      const context = requestContext(request);
      context.credential = key.name;
      checkKeyAccess(key, rule, context.path, request);
      context.caller = { id, isSubject: false };
      context.access = { scope: rule } satisfies RequestAccess;
      return true;
    }
    const known = takesReadTokens(rule) ? this.readTokens.known(id) : undefined;
    return known && letInWithToken(request, known);
  }

  /** The same for a token that is not known yet, and for a credential that may be newer than the lists. */
  private async openedLater(request: ClientRequest, rule: Scope): Promise<true> {
    const { version } = this.files;
    try {
      return await this.verified(request, rule);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'invalid_credentials') throw error;
      await this.files.readAgain();
      if (this.files.version === version) throw error;
      return this.opened(request, rule) ?? this.verified(request, rule);
    }
  }

  private async verified(request: ClientRequest, rule: Scope): Promise<true> {
    if (!takesReadTokens(rule)) {
      throw invalidCredentials(
        'not_an_api_key',
        'This route needs an API key, and the credential is not one of them.',
      );
    }
    const { credential, id } = sentCredential(request);
    return letInWithToken(request, await this.readTokens.verify(credential, id));
  }
}

/** Throws if the token does not open the request. */
function letInWithToken(request: ClientRequest, token: ReadToken): true {
  const context = requestContext(request);
  context.credential = READ_TOKEN_CREDENTIAL;
  context.subject = token.subject;
  checkReadAccess(token, request.method, context.path);
  context.expiryError = tokenExpired;
  context.expiresAtMs = token.expiresAtSeconds * 1_000;
  context.caller = token.caller;
  context.access = { readToken: token } satisfies RequestAccess;
  return true;
}
