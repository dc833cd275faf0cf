import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { InjectConfig, type GatewayConfig } from '../contract/gateway-config.ts';
import { requestContext, type RequestContext } from '../platform/server/request-context.ts';
import { parseCommandBody } from './command-body.ts';
import type { CommandRecord } from './command-record.ts';
import type { CommandVerb } from './command-verb.ts';
import { runtimeHeaders } from './command-headers.ts';
import { idempotencyKeyOf } from './idempotency-key.interceptor.ts';
import { ControlDto } from './dto/control.dto.ts';
import { SpawnDto, tenantProblems } from './dto/spawn.dto.ts';
import {
  entityAddress,
  entityUrl,
  objectKey,
  timelinePath,
  type EntityAddress,
} from './entity-address.ts';
import { RuntimeClient, type RuntimeCommand } from './runtime-client.ts';
import { derivedId, freshId } from './spawn-id.ts';

const JSON_TYPE = 'application/json';

/** A request whose body was read, and whose address and key were checked. */
export type CommandRequest = Request<Record<string, string>, unknown, Buffer>;

/** The body of a 202. */
export interface CommandResponse {
  url: string;
  streamPath: string;
  streamUrl: string;
  restate: { invocationId: string };
}

/** Turns commands into one-way durable sends. */
@Injectable()
export class CommandsService {
  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly runtime: RuntimeClient,
  ) {}

  async spawn(request: CommandRequest): Promise<CommandResponse> {
    const { tenant } = this.config;
    const dto = parseCommandBody(request.body, SpawnDto, (spawn) => tenantProblems(spawn, tenant));
    const { type, id = this.newId(type, idempotencyKeyOf(request)) } = dto;
    return this.deliver('spawn', 'spawn', entityAddress(tenant, type, id), request);
  }

  send(type: string, id: string, request: CommandRequest): Promise<CommandResponse> {
    const address = entityAddress(this.config.tenant, type, id);
    return this.deliver('send', 'wake', address, request, request.headers['content-type']);
  }

  async control(type: string, id: string, request: CommandRequest): Promise<CommandResponse> {
    const { verb } = parseCommandBody(request.body, ControlDto);
    return this.deliver(verb, 'control', entityAddress(this.config.tenant, type, id), request);
  }

  private newId(type: string, idempotencyKey: string | undefined): string {
    return idempotencyKey === undefined
      ? freshId()
      : derivedId(this.config.tenant, type, idempotencyKey);
  }

  private async deliver(
    verb: CommandVerb,
    handler: RuntimeCommand['handler'],
    address: EntityAddress,
    request: CommandRequest,
    contentType?: string,
  ): Promise<CommandResponse> {
    const context = requestContext(request);
    const url = entityUrl(address);
    const record: CommandRecord = { verb, entityUrl: url };
    context.command = record;
    context.attributes = entityAttributes(address, context);
    const { invocationId, isReplay } = await this.runtime.send({
      entity: url,
      service: address.type,
      key: objectKey(this.config.runtime.keyTemplate, address),
      handler,
      body: request.body,
      headers: runtimeHeaders(address, request, contentType || JSON_TYPE),
      isRepeatable: idempotencyKeyOf(request) !== undefined,
      clientHasGone: () => request.res?.destroyed === true,
      context,
    });
    context.attributes = { ...context.attributes, 'gateway.invocation.id': invocationId };
    record.isReplay = isReplay;
    const streamPath = timelinePath(address);
    return { url, streamPath, streamUrl: `/streams${streamPath}`, restate: { invocationId } };
  }
}

/** The type of the entity for the span. It could be an API key that somebody took for the name of a type. */
function entityAttributes(
  { type }: EntityAddress,
  { paths }: RequestContext,
): Record<string, string> {
  return paths.of(`/${type}`) === `/${type}` ? { 'gateway.entity.type': type } : {};
}
