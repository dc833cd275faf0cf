import { isIPv6, type LookupFunction } from 'node:net';
import { withinAwake } from '../clock/within.ts';
import { lookUp, NameNotFound } from './system-lookup.ts';

/** How long an answer is used without a new look-up. */
const FRESH_MS = 1_000;
/** A request that finds an older answer waits so long for the new look-up, and then uses the old one (RFC 8767 §5). */
const STALE_MS = 5_000;
const STALE_WAIT_MS = 200;
/** An older answer than this is not used without a look-up, nor than the second time if DNS says that the name is gone. */
const MAX_AGE_MS = 600_000;
const MAX_AGE_OF_GONE_MS = 60_000;
/** The least time from one look-up of a name to the next one that a failed connection asks for. */
const MIN_INTERVAL_MS = 100;

/** A look-up did not end in time. */
export class LookupTimeout extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(name: string, timeoutMs: number) {
    super(`no address of ${name} within ${timeoutMs} ms`);
  }
}

/** What is known of a name. Times are those of the resolver's clock. */
class KnownName {
  addresses: readonly string[] = [];
  foundAtMs = Number.NEGATIVE_INFINITY;
  /** Until when the addresses serve while there are no newer ones. */
  usableUntilMs = Number.NEGATIVE_INFINITY;
  beganAtMs = Number.NEGATIVE_INFINITY;
  /** The look-up under way. Never more than one for a name. */
  lookup: Promise<readonly string[]> | undefined;
}

/**
 * The addresses of upstreams, for everything that connects to one. A name has one look-up at a time, which all who
 * need it wait for, and which ends after `timeoutMs`. A name in use is looked up each second, and nobody waits for that. Its
 * last addresses also serve if a look-up fails, for a while: an old address may belong to somebody else by now.
 */
export class NameResolver {
  private readonly names = new Map<string, KnownName>();
  private readonly timeoutMs: number;
  private readonly find: (name: string, signal: AbortSignal) => Promise<string[]>;
  private readonly nowMs: () => number;

  constructor(
    timeoutMs: number,
    find: NameResolver['find'] = lookUp,
    nowMs: () => number = () => performance.now(),
  ) {
    this.timeoutMs = timeoutMs;
    this.find = find;
    this.nowMs = nowMs;
  }

  /** For the option `lookup` of `net.connect`, of agents and of undici. Never called for an IP address. */
  readonly lookup: LookupFunction = lookupOf((name) => this.addressesOf(name));

  /** Rejects with `NameNotFound` or `LookupTimeout` if there is no address that is young enough. */
  async addressesOf(name: string): Promise<readonly string[]> {
    let known = this.names.get(name);
    if (!known) this.names.set(name, (known = new KnownName()));
    const nowMs = this.nowMs();
    const ageMs = nowMs - known.foundAtMs;
    if (ageMs < FRESH_MS) return known.addresses;
    const lookup = this.begin(name, known);
    if (nowMs > known.usableUntilMs) return lookup;
    const ended = lookup.catch(() => undefined);
    if (ageMs > STALE_MS) await withinAwake(STALE_WAIT_MS, ended);
    // The look-up may have said that the name is gone.
    return nowMs > known.usableUntilMs ? lookup : known.addresses;
  }

  /** A connection to a name could not be opened, so its address may be another one by now. */
  connectFailed(name: string): void {
    const known = this.names.get(name);
    if (!known || this.nowMs() - known.beganAtMs < MIN_INTERVAL_MS) return;
    this.begin(name, known).catch(() => {});
  }

  private begin(name: string, known: KnownName): Promise<readonly string[]> {
    return (known.lookup ??= this.lookUpAgain(name, known));
  }

  private async lookUpAgain(name: string, known: KnownName): Promise<readonly string[]> {
    known.beganAtMs = this.nowMs();
    const deadline = AbortSignal.timeout(this.timeoutMs);
    try {
      const addresses = await this.find(name, deadline);
      known.addresses = addresses;
      known.foundAtMs = this.nowMs();
      known.usableUntilMs = known.foundAtMs + MAX_AGE_MS;
      return addresses;
    } catch (error) {
      if (error instanceof NameNotFound && error.isGone) {
        known.usableUntilMs = known.foundAtMs + MAX_AGE_OF_GONE_MS;
      }
      throw deadline.aborted ? new LookupTimeout(name, this.timeoutMs) : error;
    } finally {
      known.lookup = undefined;
    }
  }
}

/** A look-up in the form in which Node takes one. */
export function lookupOf(find: (name: string) => Promise<readonly string[]>): LookupFunction {
  return (name, { all }, callback) => {
    find(name).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
        if (all) callback(null, found);
        else callback(null, found[0]!.address, found[0]!.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}
