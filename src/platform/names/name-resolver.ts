import { isIPv6, type LookupFunction } from 'node:net';
import { lookUp } from './system-lookup.ts';

/** How long an answer is used without a new look-up. */
const FRESH_MS = 1_000;

/** A look-up did not end in time. */
export class LookupTimeout extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(name: string, timeoutMs: number) {
    super(`no address of ${name} within ${timeoutMs} ms`);
  }
}

interface KnownName {
  addresses: readonly string[] | undefined;
  foundAtMs: number;
  /** The look-up under way. Never more than one for a name. */
  lookup: Promise<readonly string[]> | undefined;
}

/**
 * The addresses of upstreams, for everything that connects to one. A name has one look-up at a time, which all who
 * need it wait for, and which ends after `timeoutMs`. Once a name is known nobody waits: its last addresses serve while it is
 * looked up again, and also if that fails.
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
  readonly lookup: LookupFunction = (name, { all }, callback) => {
    this.addressesOf(name).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
        if (all) callback(null, found);
        else callback(null, found[0]!.address, found[0]!.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };

  /** Rejects with `NameNotFound` or `LookupTimeout` if no address was ever found. */
  async addressesOf(name: string): Promise<readonly string[]> {
    const known = this.known(name);
    const isFresh = this.nowMs() - known.foundAtMs < FRESH_MS;
    if (known.addresses && isFresh) return known.addresses;
    const lookup = (known.lookup ??= this.lookUpAgain(name, known));
    if (!known.addresses) return lookup;
    lookup.catch(() => {});
    return known.addresses;
  }

  private known(name: string): KnownName {
    let known = this.names.get(name);
    if (!known) {
      known = { addresses: undefined, foundAtMs: Number.NEGATIVE_INFINITY, lookup: undefined };
      this.names.set(name, known);
    }
    return known;
  }

  private async lookUpAgain(name: string, known: KnownName): Promise<readonly string[]> {
    const deadline = new AbortController();
    const timer = setTimeout(() => {
      deadline.abort(new LookupTimeout(name, this.timeoutMs));
    }, this.timeoutMs);
    // It must not hold the end of the process.
    timer.unref();
    try {
      const addresses = await this.find(name, deadline.signal);
      known.addresses = addresses;
      known.foundAtMs = this.nowMs();
      return addresses;
    } catch (error) {
      throw deadline.signal.aborted ? deadline.signal.reason : error;
    } finally {
      clearTimeout(timer);
      known.lookup = undefined;
    }
  }
}
