import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { SecretFiles } from '../platform/config/secret-files.ts';
import { OpenRequests } from '../platform/server/open-requests.ts';
import type { RequestContext } from '../platform/server/request-context.ts';
import type { GatewayError } from '../platform/errors/gateway-error.ts';
import { ApiKeys } from './api-keys.ts';
import { invalidCredentials } from './bearer.ts';
import { keyOpens, notCovered } from './key-access.ts';
import { ReadTokenVerifier } from './read-token-verifier.ts';
import { accessOf, type RequestAccess } from './request-access.ts';

/** How often the keys are compared. Their files are read again once a second. */
const CHECK_INTERVAL_MS = 500;
/** Within about a second of a change every open read is checked again, in batches. */
const STEP_INTERVAL_MS = 50;
const STEPS = 20;
const MIN_STEP_READS = 50;

/** Ends the reads whose credential has been withdrawn. */
@Injectable()
export class WithdrawnCredentials implements OnModuleInit, OnModuleDestroy {
  private seen = 0;
  /** The keys can change between a read's admission and its opening. A second check finds such reads. */
  private mustLookAgain = false;
  private isAtWork = false;
  private checkTimer: NodeJS.Timeout | undefined;
  private pause: NodeJS.Timeout | undefined;

  constructor(
    private readonly apiKeys: ApiKeys,
    private readonly readTokens: ReadTokenVerifier,
    private readonly files: SecretFiles,
    private readonly openRequests: OpenRequests,
  ) {}

  onModuleInit(): void {
    this.seen = this.version;
    this.checkTimer = setInterval(() => void this.endWithdrawn(), CHECK_INTERVAL_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.checkTimer);
    clearTimeout(this.pause);
  }

  private get version(): number {
    return this.apiKeys.version + this.readTokens.version;
  }

  private async endWithdrawn(): Promise<void> {
    const hasChanged = this.version !== this.seen;
    // The reads that the previous check found are ended first.
    if (this.isAtWork || (!hasChanged && !this.mustLookAgain)) return;
    this.isAtWork = true;
    // A file that is being written may have held a part of its keys only.
    if (hasChanged) await this.files.readAgain();
    this.seen = this.version;
    this.mustLookAgain = hasChanged;
    const reads = this.openRequests.reads();
    const count = Math.max(MIN_STEP_READS, Math.ceil(reads.length / STEPS));
    for (let start = 0; start < reads.length; start += count) {
      if (start > 0) {
        await new Promise((go) => (this.pause = setTimeout(go, STEP_INTERVAL_MS).unref()));
      }
      for (const context of reads.slice(start, start + count)) {
        const error = this.refusal(context, accessOf(context));
        if (error) context.openRead?.endEarly(error);
      }
    }
    this.isAtWork = false;
  }

  /** The reason why a read would be refused now, if there is one. */
  private refusal(
    { path, caller }: RequestContext,
    access: RequestAccess | undefined,
  ): GatewayError | undefined {
    if (!access || !caller) return undefined;
    const { readToken, scope } = access;
    if (readToken) return this.readTokens.trusts(readToken) ? undefined : withdrawn();
    const key = this.apiKeys.find(Buffer.from(caller.id, 'base64'));
    if (!key || !scope) return withdrawn();
    return keyOpens(key, scope, path) ? undefined : notCovered(key, scope);
  }
}

function withdrawn(): GatewayError {
  return invalidCredentials(
    'withdrawn',
    'The credential that opened this read has been withdrawn; use a valid one.',
  );
}
