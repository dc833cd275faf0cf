import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { ClientRequest } from '../http/client-request.ts';
import { ApiKeys } from './api-keys.ts';
import { requestContext } from '../server/request-context.ts';
import { openedByKey } from './request-access.ts';
import { bearerCredential, credentialDigest, invalidCredentials } from './bearer.ts';

/** Lets in a request with one of the deployment's API keys, else 401. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly apiKeys: ApiKeys) {}

  canActivate(executionContext: ExecutionContext): boolean {
    const request = executionContext.switchToHttp().getRequest<ClientRequest>();
    const digest = credentialDigest(bearerCredential(request));
    if (this.apiKeys.has(digest)) {
      openedByKey(requestContext(request), digest.toString('base64'));
      return true;
    }
    throw invalidCredentials(
      'not_an_api_key',
      'This route needs an API key, and the credential is not one of them.',
    );
  }
}
