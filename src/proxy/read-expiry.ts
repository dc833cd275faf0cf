import { Injectable } from '@nestjs/common';
import { tokenExpired } from '../auth/bearer.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { RequestContext } from '../server/request-context.ts';
import { Deadlines, type Deadline } from './deadlines.ts';

/** How often the wall clock is looked at while a token's end is waited for: it may be set in the meantime. */
const CLOCK_CHECK_MS = 1_000;

/** Tells when the read token that opened a read has expired. */
@Injectable()
export class ReadExpiry {
  private readonly deadlines = new Deadlines(() => Date.now(), CLOCK_CHECK_MS);

  /**
   * Calls back with `token_expired` when the token has expired; never where an API key opened the
   * read.
   */
  watch(
    { tokenEndsAtMs }: RequestContext,
    onExpired: (error: GatewayError) => void,
  ): Deadline | undefined {
    if (tokenEndsAtMs === undefined) return undefined;
    return this.deadlines.add(tokenEndsAtMs, () => onExpired(tokenExpired()));
  }
}
