import { Injectable } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { InjectConfig, type GatewayConfig } from '../../contract/gateway-config.ts';
import type { ClientRequest } from '../../platform/http/client-request.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { requestContext } from '../../platform/server/request-context.ts';
import { ownRequestHeaders, writeHeaders } from '../headers/request-headers.ts';
import type { AnswerRules } from '../headers/response-headers.ts';
import { ClientAnswer } from '../reads/client-answer.ts';
import { Reader } from '../reads/reader.ts';
import { SharedAnswer } from '../reads/shared-answer.ts';
import { isIdempotent } from '../upstream/send-again.ts';
import { outgoingBody } from './outgoing-body.ts';

/**
 * Forwards requests that are not shared and may have a body: appends, and everything of the registry. Each has an answer of its
 * own with one reader.
 */
@Injectable()
export class ForwardService {
  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly held: HeldBytes,
  ) {}

  /** Resolves when the response is closed. Rejects with a `GatewayError`, or `ClientGone`. */
  async answer(client: ClientRequest, response: ServerResponse, rules: AnswerRules): Promise<void> {
    const { upstream, requestTarget } = rules;
    const context = requestContext(client);
    const { method, rawHeaders } = client;
    const headers = writeHeaders(rawHeaders, upstream);
    const body = await outgoingBody(client, response, this.config.maxBodyBytes, this.held);
    const request = {
      method,
      target: requestTarget,
      headers: headers.concat(ownRequestHeaders(upstream, context.requestId)),
      body,
      context,
      timeoutMs: upstream.timeoutMs(false),
      isLive: false,
      // A streamed body is gone when it was sent.
      isRepeatable: body === undefined && isIdempotent(method),
    };
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const reader = new Reader(
      { context, upstream, send: (handler) => upstream.exchange(request, handler) },
      new ClientAnswer(response, context, rules, this.held),
      () => resolve(),
      reject,
    );
    response.once('close', () => reader.onClosed());
    SharedAnswer.sendApart(reader, this.held);
    return promise;
  }
}
