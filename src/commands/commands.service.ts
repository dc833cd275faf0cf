import { Injectable } from '@nestjs/common';
import { InjectConfig, type GatewayConfig } from '../platform/config/gateway-config.ts';
import type { CommandBody } from './command-body.ts';
import { runtimeHeaders, type CommandCall } from './command-headers.ts';
import type { ControlDto } from './dto/control.dto.ts';
import type { SpawnDto } from './dto/spawn.dto.ts';
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

/** The body of a 202. */
export interface CommandResponse {
  url: string;
  streamPath: string;
  streamUrl: string;
  restate: { invocationId: string };
}

export interface CommandOutcome {
  response: CommandResponse;
  isReplay: boolean;
}

/** Turns commands into one-way durable sends. */
@Injectable()
export class CommandsService {
  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly runtime: RuntimeClient,
  ) {}

  spawn(body: CommandBody<SpawnDto>, call: CommandCall): Promise<CommandOutcome> {
    const { tenant } = this.config;
    call.context.command = 'spawn';
    const { type, id = this.newId(type, call) } = body.dto;
    return this.deliver('spawn', entityAddress(tenant, type, id), body.bytes, JSON_TYPE, call);
  }

  send(type: string, id: string, body: Buffer, call: CommandCall): Promise<CommandOutcome> {
    call.context.command = 'send';
    const address = entityAddress(this.config.tenant, type, id);
    return this.deliver('wake', address, body, call.contentType || JSON_TYPE, call);
  }

  control(
    type: string,
    id: string,
    body: CommandBody<ControlDto>,
    call: CommandCall,
  ): Promise<CommandOutcome> {
    call.context.command = body.dto.verb;
    const address = entityAddress(this.config.tenant, type, id);
    return this.deliver('control', address, body.bytes, JSON_TYPE, call);
  }

  private newId(type: string, { idempotencyKey }: CommandCall): string {
    return idempotencyKey === undefined
      ? freshId()
      : derivedId(this.config.tenant, type, idempotencyKey);
  }

  private async deliver(
    handler: RuntimeCommand['handler'],
    address: EntityAddress,
    body: Buffer,
    contentType: string,
    call: CommandCall,
  ): Promise<CommandOutcome> {
    const { context } = call;
    context.entityType = address.type;
    context.entityUrl = entityUrl(address);
    const { invocationId, isReplay } = await this.runtime.send({
      service: address.type,
      key: objectKey(this.config.runtime.keyTemplate, address),
      handler,
      body,
      headers: runtimeHeaders(address, call, contentType),
      isRepeatable: call.idempotencyKey !== undefined,
      clientHasGone: call.clientHasGone,
      context,
    });
    context.invocationId = invocationId;
    context.isReplay = isReplay;
    const streamPath = timelinePath(address);
    return {
      response: {
        url: context.entityUrl,
        streamPath,
        streamUrl: `/streams${streamPath}`,
        restate: { invocationId },
      },
      isReplay,
    };
  }
}
