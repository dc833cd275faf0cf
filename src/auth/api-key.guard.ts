import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { ApiKeys } from './api-keys.ts';
import { bearerCredential, invalidCredentials } from './bearer.ts';

/** Lets in a request with one of the deployment's API keys, else 401. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly apiKeys: ApiKeys) {}

  canActivate(context: ExecutionContext): boolean {
    const credential = bearerCredential(context.switchToHttp().getRequest<Request>());
    if (this.apiKeys.has(credential)) return true;
    throw invalidCredentials('This route needs an API key, and the credential is not one of them.');
  }
}
