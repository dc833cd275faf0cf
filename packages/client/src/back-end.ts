import { APIError } from './api-error.ts';
import { ReadScope } from './read-scope.ts';
import { Credential, SessionEnded, type MintedToken } from './credential.ts';
import { Transport, type TransportOptions } from './transport.ts';

/** A page's own back end, made with `chatBackEnd`. It takes commands and mints read tokens. */
export class BackEnd {
  /** For the commands. The browser adds the cookies of its origin, and there is no other credential. */
  readonly transport: Transport;
  /** What the page reads: its tokens are for that. */
  readonly scope = new ReadScope();

  /** Throws a TypeError for a URL that is neither a path of this origin nor http or https. */
  constructor(url: string, options: Omit<TransportOptions, 'url' | 'credential'>) {
    const isPath = /^\/(?![/\\])[^?#\\]*$/.test(url);
    if (!isPath && !/^https?:\/\/[^?#\\@]+$/.test(url)) {
      throw new TypeError('backEnd must be a path such as /chat, or an http or https URL.');
    }
    const credential = new Credential({});
    this.transport = new Transport({
      ...options,
      url: url.replace(/\/+$/, ''),
      credential,
      hasSession: true,
    });
  }

  /**
   * A read token for what the page reads, as far as the user may. Rejects with an `APIError`, or with a `SessionEnded` after a 401: the user has
   * signed out.
   */
  async mint(): Promise<MintedToken> {
    const minted = this.transport.request({
      method: 'POST',
      path: '/token',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(this.scope.next()),
      isIdempotent: true,
      // The reads that need it try again by themselves.
      retryForMs: 0,
    });
    const { text } = await minted.catch((error: unknown) => {
      throw error instanceof APIError && error.status === 401
        ? new SessionEnded(undefined, { cause: error })
        : error;
    });
    return JSON.parse(text) as MintedToken;
  }
}
