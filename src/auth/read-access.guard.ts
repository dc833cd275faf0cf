import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '../errors/gateway-error.ts';
import { requestContext } from '../request/request-context.ts';
import { ApiKeys } from './api-keys.ts';
import { bearerCredential, credentialDigest } from './bearer.ts';
import { isControlPlanePath, scopeCovers } from './path-scope.ts';
import { ReadTokenVerifier } from './read-token-verifier.ts';

/** Lets in an API key for everything, and a read token for reads of what its prefix covers. */
@Injectable()
export class ReadAccessGuard implements CanActivate {
  constructor(
    private readonly apiKeys: ApiKeys,
    private readonly readTokens: ReadTokenVerifier,
  ) {}

  canActivate(executionContext: ExecutionContext): boolean | Promise<boolean> {
    const request = executionContext.switchToHttp().getRequest<Request>();
    const credential = bearerCredential(request);
    const digest = credentialDigest(credential);
    requestContext(request).credentialId = digest.toString('base64');
    return this.apiKeys.has(digest) || this.checkReadToken(request, credential);
  }

  private async checkReadToken(request: Request, credential: string): Promise<boolean> {
    const token = await this.readTokens.verify(credential);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new GatewayError(
        'read_only_token',
        'A read token opens GET and HEAD only; use an API key.',
      );
    }
    const context = requestContext(request);
    if (!scopeCovers(token.scope, context.path) || isControlPlanePath(context.path)) {
      throw new GatewayError(
        'prefix_not_covered',
        'No prefix of the read token covers this path; mint a token for it.',
      );
    }
    context.readToken = token;
    return true;
  }
}
