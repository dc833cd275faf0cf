import { Credential, type MintedToken } from './credential.ts';
import { Transport, type TransportOptions } from './transport.ts';

/** A page's own back end, made with `chatBackEnd`. It takes commands and mints read tokens. */
export class BackEnd {
  /** For the commands. The browser adds the cookies of its origin, and there is no other credential. */
  readonly transport: Transport;

  /** Throws a TypeError for a URL that is neither a path of this origin nor http or https. */
  constructor(url: string, options: Omit<TransportOptions, 'url' | 'credential'>) {
    const isPath = /^\/(?![/\\])[^?#\\]*$/.test(url);
    if (!isPath && !/^https?:\/\/[^?#\\@]+$/.test(url)) {
      throw new TypeError('backEnd must be a path such as /chat, or an http or https URL.');
    }
    const credential = new Credential({});
    this.transport = new Transport({ ...options, url: url.replace(/\/+$/, ''), credential });
  }

  /** A read token for what the user may read. Rejects with an `APIError`. */
  async mint(): Promise<MintedToken> {
    const { text } = await this.transport.request({
      method: 'POST',
      path: '/token',
      headers: { 'content-type': 'application/json' },
      body: '{}',
      isIdempotent: true,
      // The reads that need it try again by themselves.
      retryForMs: 0,
    });
    return JSON.parse(text) as MintedToken;
  }
}
