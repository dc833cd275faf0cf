import type { Row } from '@electric-sql/client';
import { streamPath, timelinePath, type EntityAddress } from './address.ts';
import { Agents } from './agents.ts';
import { Catalog, type CatalogOptions, type EntityRow } from './catalog.ts';
import { Credential, type CredentialOptions } from './credential.ts';
import { Deployments } from './deployments.ts';
import type { AgentEvent, TimelineEvent } from './events.ts';
import { Invocations } from './invocations.ts';
import { Stream, type StreamOptions } from './stream.ts';
import { Timeline, type TimelineOptions } from './timeline.ts';
import { Transport, type RequestOptions } from './transport.ts';

export interface AgentGatewayOptions
  extends CredentialOptions, Pick<RequestOptions, 'timeoutMs' | 'retryForMs'> {
  /** The URL of the gateway, such as `https://gateway.example`. */
  url: string;
  /** The tenant of the deployment. Default: the gateway's own for commands, and `default` for timelines. */
  tenant?: string;
  /** Replaces the platform's `fetch`. */
  fetch?: typeof fetch;
}

/** A client of one agent gateway. It holds no connection and needs no closing. */
export class AgentGateway {
  /** Commands: spawn, send, ask, control. */
  readonly agents: Agents;
  /** The deployments of agents that Restate knows. */
  readonly deployments: Deployments;
  /** The invocations that have not ended. */
  readonly invocations: Invocations;
  readonly #transport: Transport;
  readonly #isRenewable: boolean;
  readonly #tenant: string;

  /**
   * Throws a TypeError for a URL that is not http or https or has a user name, a query or a fragment, and for a key
   * that cannot be a header's value.
   */
  constructor(options: AgentGatewayOptions) {
    const credential = new Credential(options);
    this.#isRenewable = credential.isRenewable;
    this.#tenant = options.tenant ?? 'default';
    this.#transport = new Transport({
      url: checkedUrl(options.url),
      credential,
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
      ...(options.retryForMs !== undefined && { retryForMs: options.retryForMs }),
    });
    this.deployments = new Deployments(this.#transport);
    this.invocations = new Invocations(this.#transport);
    this.agents = new Agents(this.#transport, options.tenant, {
      transport: this.#transport,
      tenant: this.#tenant,
      isRenewable: this.#isRenewable,
      invocations: this.invocations,
    });
  }

  /**
   * The timeline of an entity, by its address or the result of `spawn` or `send`, or any stream of JSON by its
   * path. No request is sent before the iteration.
   */
  timeline<Event extends TimelineEvent = AgentEvent>(
    agent: EntityAddress,
    options: TimelineOptions = {},
  ): Timeline<Event> {
    const path = timelinePath(agent, this.#tenant);
    return new Timeline<Event>(this.#transport, path, this.#isRenewable, options);
  }

  /** Any stream by its path, such as `/streams/shared/notes`, as bytes. No request is sent before the iteration. */
  stream(path: string, options: StreamOptions = {}): Stream {
    return new Stream(this.#transport, streamPath(path), this.#isRenewable, options);
  }

  /** The live catalog. No request is sent before the iteration. */
  catalog<R extends Row = EntityRow>(options: CatalogOptions = {}): Catalog<R> {
    return new Catalog<R>(this.#transport, this.#isRenewable, options);
  }
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isBare = url && !url.username && !url.password && !url.search && !url.hash;
  if (!isBare || !/^https?:$/.test(url.protocol)) {
    // The message does not contain the URL, because a URL with a password is one of the invalid ones.
    throw new TypeError(
      'The url must be an http or https URL without user name, query or fragment, such as https://gateway.example.',
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}
