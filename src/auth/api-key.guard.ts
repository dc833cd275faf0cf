import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { ClientRequest } from '../http/client-request.ts';
import { ApiKeys } from './api-keys.ts';
import { bearerCredential, credentialDigest, invalidCredentials } from './bearer.ts';
import { letInWithKey } from './key-access.ts';
import { RouteRules } from './route-rules.ts';

/** Lets in a request with one of the deployment's API keys that has the route's scope, else 401 or 403. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly apiKeys: ApiKeys,
    private readonly rules: RouteRules,
  ) {}

  canActivate(executionContext: ExecutionContext): boolean {
    const request = executionContext.switchToHttp().getRequest<ClientRequest>();
    const digest = credentialDigest(bearerCredential(request));
    const key = this.apiKeys.find(digest);
    if (!key) {
      throw invalidCredentials(
        'not_an_api_key',
        'This route needs an API key, and the credential is not one of them.',
      );
    }
    letInWithKey(key, digest.toString('base64'), request, this.rules.scopeOf(executionContext));
    return true;
  }
}
