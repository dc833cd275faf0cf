/** A client that must read what is held for it. */
export interface SlowClient {
  /** Set by the list; undefined while the client is not in it. */
  slowPlace?: SlowPlace | undefined;
  /** Ends the client's response and frees what is held for it. */
  shed(): void;
}

/** An entry of the list. */
interface SlowPlace {
  readonly client: SlowClient;
  /** The time in milliseconds at which the client became slow. */
  readonly sinceMs: number;
  before: SlowPlace | undefined;
  behind: SlowPlace | undefined;
}

/**
 * A linked list of clients in the order in which they became slow. Every response enters and leaves it. A `Map`
 * would make V8 copy its table again and again and keep old entries alive; see `UnorderedList`.
 */
export class SlowClients {
  private first: SlowPlace | undefined;
  private last: SlowPlace | undefined;

  /** The client that has been slow for longest, and since when. */
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

  /** Does nothing if the client is not in the list. */
  delete(client: SlowClient): void {
    const place = client.slowPlace;
    if (!place) return;
    client.slowPlace = undefined;
    const { before, behind } = place;
    if (before) before.behind = behind;
    else this.first = behind;
    if (behind) behind.before = before;
    else this.last = before;
    // A removed entry must not keep later ones alive.
    place.before = place.behind = undefined;
  }
}
