import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { ClientRequest } from '../http/client-request.ts';
import { requestContext } from '../server/request-context.ts';
import { ApiKeys } from './api-keys.ts';
import { bearerCredential, credentialDigest, invalidCredentials } from './bearer.ts';
import { checkKeyAccess } from './key-access.ts';
import { openedByKey, sentWithKey } from './request-access.ts';
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
    const scope = this.rules.scopeOf(executionContext);
    const context = requestContext(request);
    sentWithKey(context, key.name);
    checkKeyAccess(key, scope, context.path, request);
    openedByKey(context, digest.toString('base64'), scope);
    return true;
  }
}
