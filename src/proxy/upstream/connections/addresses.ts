import { isIPv6 } from 'node:net';
import type { NameResolver } from '../../../platform/names/name-resolver.ts';

/** How long an address comes after the others once it was silent, or refused a connection. */
const AVOID_MS = 10_000;

/**
 * The order in which connections try the addresses of an upstream's name. It begins with a random one, so that
 * several servers behind a name share the work, and has IPv4 first, because IPv6 often leads nowhere.
 */
export class Addresses {
  private readonly name: string;
  private readonly names: Pick<NameResolver, 'addressesOf' | 'connectFailed'>;
  private readonly avoidedUntilMs = new Map<string, number>();

  constructor(name: string, names: Pick<NameResolver, 'addressesOf' | 'connectFailed'>) {
    this.name = name;
    this.names = names;
  }

  /** The addresses, those last that are avoided, and `besides`. Rejects as `NameResolver` does. */
  async inOrder(besides?: string): Promise<readonly string[]> {
    const found = await this.names.addressesOf(this.name);
    if (found.length < 2) return found;
    const nowMs = performance.now();
    const start = Math.floor(Math.random() * found.length);
    const rank = (address: string): number =>
      2 * Number(address === besides || (this.avoidedUntilMs.get(address) ?? 0) > nowMs) +
      Number(isIPv6(address));
    return [...found.slice(start), ...found.slice(0, start)].sort((a, b) => rank(a) - rank(b));
  }

  /** The address was silent, or refused a connection. */
  avoid(address: string): void {
    this.avoidedUntilMs.set(address, performance.now() + AVOID_MS);
    for (const [each, untilMs] of this.avoidedUntilMs)
      if (untilMs <= performance.now()) this.avoidedUntilMs.delete(each);
  }

  /** No connection could be opened. */
  connectFailed(): void {
    this.names.connectFailed(this.name);
  }
}
