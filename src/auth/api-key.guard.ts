import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { ApiKeys } from './api-keys.ts';
import { invalidCredentials } from './bearer.ts';
import { CredentialFiles } from './credential-files.ts';
import { letInWithKey } from './key-access.ts';
import { RouteRules } from './route-rules.ts';
import { sentCredential } from './sent-credential.ts';

/** Lets in a request with one of the deployment's API keys that has the route's scope, else 401 or 403. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly apiKeys: ApiKeys,
    private readonly files: CredentialFiles,
    private readonly rules: RouteRules,
  ) {}

  canActivate(executionContext: ExecutionContext): true | Promise<true> {
    const request = executionContext.switchToHttp().getRequest<ClientRequest>();
    const { credential, digest, id } = sentCredential(request);
    const letIn = (): boolean => {
      const key = this.apiKeys.keyOf(credential, digest);
      if (!key) return false;
      letInWithKey(key, id, request, this.rules.ofKey(executionContext));
      return true;
    };
    if (letIn()) return true;
    return this.files.readAgain().then(() => {
      if (letIn()) return true;
      throw invalidCredentials(
        'not_an_api_key',
        'This route needs an API key, and the credential is not one of them.',
      );
    });
  }
}
