import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { SecretFiles } from '../platform/config/secret-files.ts';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { ApiKeys } from './api-keys.ts';
import { invalidCredentials } from './bearer.ts';
import { letInWithKey } from './key-access.ts';
import { RouteRules } from './route-rules.ts';
import { sentCredential, type SentCredential } from './sent-credential.ts';

/** Lets in a request with one of the deployment's API keys that has the route's scope, else 401 or 403. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly apiKeys: ApiKeys,
    private readonly files: SecretFiles,
    private readonly rules: RouteRules,
  ) {}

  canActivate(executionContext: ExecutionContext): true | Promise<true> {
    const request = executionContext.switchToHttp().getRequest<ClientRequest>();
    const sent = sentCredential(request);
    if (this.letsIn(request, sent, executionContext)) return true;
    return this.files.readAgain().then(() => {
      if (this.letsIn(request, sent, executionContext)) return true;
      throw invalidCredentials(
        'not_an_api_key',
        'This route needs an API key, and the credential is not one of them.',
      );
    });
  }

  /** Returns false for a credential that is no API key. Throws `scope_not_covered`. */
  letsIn(
    request: ClientRequest,
    { credential, digest, id }: SentCredential,
    executionContext: ExecutionContext,
  ): boolean {
    const key = this.apiKeys.keyOf(credential, digest);
    if (!key) return false;
    letInWithKey(key, id, request, this.rules.ofKey(executionContext));
    return true;
  }
}
