/** A client that has to take what is held for it. */
export interface SlowClient {
  /** Kept by the list; undefined while the client is in none. */
  slowPlace?: SlowPlace | undefined;
  /** Ends what the client reads, and releases what is held for it. */
  shed(): void;
}

/** A place in the list. */
interface SlowPlace {
  readonly client: SlowClient;
  /** Since when it is slow, in milliseconds. */
  readonly sinceMs: number;
  before: SlowPlace | undefined;
  behind: SlowPlace | undefined;
}

/**
 * Clients in the order in which they became slow. Every answer comes and goes here: in a `Map` V8 would copy the table
 * again and again, and keep what was in the old ones alive; see `UnorderedList`.
 */
export class SlowClients {
  private first: SlowPlace | undefined;
  private last: SlowPlace | undefined;

  /** Who is slow for longest, and since when. */
  get slowest(): Readonly<Pick<SlowPlace, 'client' | 'sinceMs'>> | undefined {
    return this.first;
  }

  add(client: SlowClient, nowMs: number): void {
    if (client.slowPlace) return;
    const place: SlowPlace = { client, sinceMs: nowMs, before: this.last, behind: undefined };
    client.slowPlace = place;
    if (this.last) this.last.behind = place;
    else this.first = place;
    this.last = place;
  }

  /** Does nothing where the client is not in the list. */
  delete(client: SlowClient): void {
    const place = client.slowPlace;
    if (!place) return;
    client.slowPlace = undefined;
    const { before, behind } = place;
    if (before) before.behind = behind;
    else this.first = behind;
    if (behind) behind.before = before;
    else this.last = before;
    // An old place must not keep those that came later alive.
    place.before = place.behind = undefined;
  }
}
