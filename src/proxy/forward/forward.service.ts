import { Injectable } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { awakeMs } from '../../platform/clock/awake-clock.ts';
import { InjectConfig, type GatewayConfig } from '../../platform/config/gateway-config.ts';
import type { ClientRequest } from '../../platform/http/client-request.ts';
import { headerObject, type HeaderList } from '../../platform/http/header-list.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { requestContext } from '../../platform/server/request-context.ts';
import { UpstreamCalls, type UpstreamCall } from '../../platform/telemetry/upstream-calls.ts';
import { flushAnswerHead, isEventStream, writeAnswerHead } from '../headers/answer-head.ts';
import { HeaderBlock } from '../headers/header-block.ts';
import { clientResponseHeaders, type AnswerRules } from '../headers/response-headers.ts';
import type { ProxiedUpstream } from '../upstream/upstreams.ts';
import {
  ForwardAttempt,
  StaleConnection,
  type AttemptOptions,
  type ForwardedRequest,
} from './forward-attempt.ts';
import { outgoingBody } from './outgoing-body.ts';
import { Relay } from './relay.ts';

/** A request to an upstream, without its body. */
export interface Forwarding {
  upstream: ProxiedUpstream;
  target: string;
  headers: HeaderList;
  rules: AnswerRules;
}

/** Forwards requests that are not shared and may have a body: appends, and everything of the registry. */
@Injectable()
export class ForwardService {
  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly upstreamCalls: UpstreamCalls,
    private readonly held: HeldBytes,
  ) {}

  /** Resolves when the answer has begun. Rejects with a `GatewayError`, or `ClientGone`. */
  async answer(
    client: ClientRequest,
    response: ServerResponse,
    { upstream, target, headers: list, rules }: Forwarding,
  ): Promise<void> {
    const headers = headerObject(list);
    const body = await outgoingBody(client, response, this.config.maxBodyBytes, this.held);
    if (body) headers['content-length'] = String(body.lengthBytes);
    const request = { client, response, upstream, target, headers, body: body?.stream };
    const { call, answer } = await this.send(request);
    const status = answer.statusCode ?? 502;
    try {
      writeAnswerHead(response, requestContext(client), {
        status,
        headers: new HeaderBlock(clientResponseHeaders(answer.rawHeaders, { ...rules, status })),
        isEventStream: isEventStream(answer.headers['content-type']),
      });
    } catch (error) {
      call.failed(error);
      answer.destroy();
      throw error;
    }
    flushAnswerHead(response);
    new Relay(answer, response, this.held, this.config.timeouts.upstreamStallMs).start();
  }

  /** Sends the request, and once more if the upstream had closed its kept connection. */
  private async send(request: ForwardedRequest): Promise<Answered> {
    const { agent, newConnections, timeoutMs } = request.upstream;
    const endsAtMs = awakeMs() + timeoutMs;
    try {
      return await this.attempt(request, { agent, timeoutMs, isResent: false });
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      // Other connections of the pool may be closed too.
      const leftMs = Math.max(1, endsAtMs - awakeMs());
      return this.attempt(request, { agent: newConnections, timeoutMs: leftMs, isResent: true });
    }
  }

  private async attempt(
    request: ForwardedRequest,
    options: Omit<AttemptOptions, 'connectMs'>,
  ): Promise<Answered> {
    const { client, upstream, target, headers } = request;
    const context = requestContext(client);
    const call = this.upstreamCalls.begin(upstream.name, client.method, context, target);
    const sent = { ...request, headers: { ...headers, ...call.headers } };
    const { connectMs } = this.config.timeouts;
    try {
      const { answer } = new ForwardAttempt(sent, { ...options, connectMs });
      return { call, answer: reported(await answer, call) };
    } catch (error) {
      if (error instanceof StaleConnection) call.ended('stale');
      else call.failed(error);
      throw error;
    }
  }
}

/** A response with its body unread. */
interface Answered {
  call: UpstreamCall;
  answer: IncomingMessage;
}

/** Tells the observers of upstream requests of a response, now and at its end. */
function reported(answer: IncomingMessage, call: UpstreamCall): IncomingMessage {
  call.answered(answer.statusCode ?? 502);
  const end = (): void => {
    // A complete response may still be broken off, if its end proves nothing.
    if (answer.errored) call.ended('broken');
    // Without an error the gateway itself broke off, for example because the client disconnected.
    else call.ended(answer.complete ? undefined : 'canceled');
  };
  if (answer.closed) end();
  else answer.once('close', end);
  return answer;
}
