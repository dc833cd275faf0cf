import type { Row } from '@electric-sql/client';
import { streamPath, timelinePath, type EntityAddress } from './address.ts';
import { Agents } from './agents.ts';
import type { AnswerReads } from './answer.ts';
import { BackEnd } from './back-end.ts';
import { Catalog, type CatalogOptions } from './catalog.ts';
import { Credential, type CredentialOptions } from './credential.ts';
import { Deployments } from './deployments.ts';
import type { EntityRow } from './entity-row.ts';
import type { AgentEvent } from './events.ts';
import { Invocations } from './invocations.ts';
import { Runs } from './runs.ts';
import { Stream, type StreamOptions } from './stream.ts';
import { Timeline, type TimelineOptions } from './timeline.ts';
import { Transport, type RequestOptions, type TransportOptions } from './transport.ts';

/** Where the gateway is, and the credential of its requests. */
export interface AgentGatewayOptions
  extends CredentialOptions, Pick<RequestOptions, 'timeoutMs' | 'retryForMs'> {
  /** The URL of the gateway, such as `https://gateway.example`. */
  url: string;
  /** The tenant of the deployment. Default: the gateway's own for commands, and `default` for timelines. */
  tenant?: string;
  /**
   * For pages, in place of a credential: where the page's own origin has mounted `chatBackEnd`, such as `/chat`. Reads
   * go to the gateway with tokens of it, and commands to it, with the page's cookies.
   */
  backEnd?: string;
  /** Replaces the platform's `fetch`, for example by `tracedFetch()` of `@agent-gateway/client/opentelemetry`. */
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
  /** What agents did for each message. */
  readonly runs: Runs;
  readonly #transport: Transport;
  readonly #isRenewable: boolean;
  /** The tenant of timelines and tokens. */
  readonly tenant: string;

  /**
   * Throws a TypeError for a URL that is not http or https or has a user name, a query or a fragment, for a key that
   * cannot be a header's value, and for two credentials.
   */
  constructor(options: AgentGatewayOptions) {
    const { url, backEnd: backEndUrl, timeoutMs, retryForMs } = options;
    const call = {
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(retryForMs !== undefined && { retryForMs }),
    } satisfies Omit<TransportOptions, 'url' | 'credential'>;
    const backEnd = backEndUrl === undefined ? undefined : new BackEnd(backEndUrl, call);
    const credential = new Credential(withTokensOf(backEnd, options));
    this.#isRenewable = credential.isRenewable;
    this.tenant = options.tenant ?? 'default';
    this.#transport = new Transport({
      ...call,
      url: checkedUrl(url),
      credential,
      scope: backEnd?.scope,
    });
    this.deployments = new Deployments(this.#transport);
    this.invocations = new Invocations(this.#transport);
    this.runs = new Runs({
      timeline: (agent, options) => this.timeline(agent, options),
      catalog: (options) => this.catalog(options),
      invocations: this.invocations,
    });
    const reads: AnswerReads = {
      transport: this.#transport,
      tenant: this.tenant,
      isRenewable: this.#isRenewable,
      invocations: this.invocations,
    };
    this.agents = backEnd
      ? new Agents(backEnd.transport, undefined, reads, true)
      : new Agents(this.#transport, options.tenant, reads);
  }

  /**
   * The timeline of an entity, by its address or the result of `spawn` or `send`, or any stream of JSON by its
   * path. No request is sent before the iteration.
   */
  timeline<Event = AgentEvent>(
    agent: EntityAddress,
    options: TimelineOptions<Event> = {},
  ): Timeline<Event> {
    const path = timelinePath(agent, this.tenant);
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

function withTokensOf(
  backEnd: BackEnd | undefined,
  { apiKey, authCallback }: CredentialOptions,
): CredentialOptions {
  if (!backEnd) return { apiKey, authCallback };
  if (apiKey !== undefined || authCallback !== undefined) {
    throw new TypeError('Give one of apiKey, authCallback and backEnd.');
  }
  return { authCallback: () => backEnd.mint() };
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
