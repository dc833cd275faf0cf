import { Injectable } from '@nestjs/common';
import { tokenExpired } from '../auth/bearer.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { RequestContext } from '../server/request-context.ts';
import { Deadlines, type Deadline } from './deadlines.ts';

/** How often the wall clock is read while a read waits for its token's end, because somebody may set the clock. */
const CLOCK_CHECK_MS = 1_000;

/** Reports when the read token of a read expires. */
@Injectable()
export class ReadExpiry {
  private readonly deadlines = new Deadlines(() => Date.now(), CLOCK_CHECK_MS);

  /** Calls back with `token_expired` when the token expires. Never calls back for an API key. */
  watch(
    { tokenEndsAtMs }: RequestContext,
    onExpired: (error: GatewayError) => void,
  ): Deadline | undefined {
    if (tokenEndsAtMs === undefined) return undefined;
    return this.deadlines.add(tokenEndsAtMs, () => onExpired(tokenExpired()));
  }
}
